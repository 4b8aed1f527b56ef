import { templateNames } from "@owed/channel/template-names";
import { listRules, type Rule, type RuleVersion, roles, setRule, trySettingRule } from "@owed/ledger";
import { type Command, InvalidArgumentError, Option } from "commander";
import { actorOf, duration, text, timeOfDay } from "../../arguments.ts";
import { type Run, teach } from "../../command.ts";
import { Failure } from "../../errors.ts";
import { knownStatus } from "../../rules/known-status.ts";
import { whatItDoes, whenIt } from "../../rules/text.ts";

type Options = {
  status: string;
  role: Rule["role"];
  channel: string;
  template?: string;
  merchant?: string;
  delay?: number;
  at?: string;
  sendWithin?: number | typeof none;
  onlyWhileCurrent?: boolean;
  newestReplaces?: boolean;
  onUnknown?: Rule["onUnknown"];
  silent?: boolean;
  dryRun?: true;
  why: string;
};

export function set(rules: Command, run: Run): void {
  teach(rules, "set", {
    summary: "set a rule: a new version of it, or a new one",
    description:
      "Sets what a status tells a role by a channel. What is not named keeps what the rule says now; a merchant's own begins as the default one is, and any other as: at once, within 7 days, the newest replaces it. Another template is another rule: without --template it is the one of the status itself. A merchant's own rules stand in place of all the default ones for the same status, role and channel: set each of them, or one that is silent. A time of day is where the recipient is, else the merchant, else UTC. What is owed already keeps its rule.",
    changes: "the rules, from the next event on. What is owed already keeps the version it came from.",
    examples: [
      'rules set --status customs_hold --role buyer --channel sms --template customs_hold.still --delay 24h --at 09:00 --only-while-current --why "asked for by support"',
      'rules set --status delivered --role buyer --channel email --at 09:00 --send-within 7d --why "not at night"',
      'rules set --merchant shop-7 --status picked_up --role buyer --channel email --silent --why "the shop writes itself"',
      'rules set --merchant shop-7 --status delivered --role merchant --channel webhook --dry-run --why "their inbox"',
    ],
  })
    .requiredOption("--status <status>", "the status", text)
    .addOption(new Option("--role <role>", "who is told").choices([...roles]).makeOptionMandatory())
    .requiredOption("--channel <channel>", "by what: email, sms or webhook", text)
    .option("--template <name>", "which text (default: the status's)", text)
    .option("--merchant <id>", "for this merchant's shipments alone", text)
    .option("--delay <duration>", "after the event occurred, such as 24h; 0s is at once", duration)
    .option(
      "--at <HH:MM>",
      "at this time of day where the recipient is, after the delay; or none",
      orNone(timeOfDay),
    )
    .option(
      "--send-within <duration>",
      "after the event occurred, else it is too late; or none",
      orNone(duration),
    )
    .option("--only-while-current", "only while the shipment is still in this status")
    .option("--no-only-while-current", "whatever its status is by then")
    .option(
      "--newest-replaces",
      "not sent once something newer is owed to the same recipient by the same channel",
    )
    .option("--no-newest-replaces", "sent beside what is newer")
    .addOption(
      new Option("--on-unknown <what>", "when nobody knows whether it was sent").choices(["resend", "hold"]),
    )
    .option("--silent", "tell nobody, in place of the default rules")
    .option("--no-silent", "tell again")
    .option("--dry-run", "only say what would change")
    .requiredOption("--why <text>", "why, for the record", text)
    .action((options: Options, command: Command) => {
      const act = { actor: actorOf(command), why: options.why };
      return run("writes", async ({ ledger }) => {
        await knownStatus(ledger, options.status);
        const rules = await listRules(ledger, { history: false });
        const before = current(rules, options, options.merchant ?? null);
        // A merchant's own begins as the default one is.
        const rule = changed(before ?? current(rules, options, null), options);
        if (!templateNames.has(rule.template))
          throw new Failure(
            "usage",
            `there is no template ${rule.template}; name one with --template: ${[...templateNames].join(", ")}`,
          );
        const dryRun = options.dryRun === true;
        const id = await (dryRun ? trySettingRule : setRule)(ledger, rule, act);
        const verb = before && before.id === id ? "Unchanged" : dryRun ? "Would set" : "Set";
        const replaced = before ? [] : standIns(rules, rule);
        return {
          json: { id, before: before ?? null, rule, inPlaceOf: replaced.map(({ id }) => id), dryRun, ...act },
          lines: [
            `${verb}: ${describe(rule)}`,
            before ? `Before: ${describe(before)} (version ${before.version})` : "Before: no such rule",
            ...(replaced.length > 0
              ? [
                  "The merchant's own rules stand in place of all the default ones for this status, role and channel:",
                ]
              : []),
            ...replaced.map((other) => `  ${other.id}: ${describe(other)}`),
          ],
        };
      });
    });
}

/** The default rules that a merchant's first own one of its place puts out of force for it. */
function standIns(
  rules: readonly RuleVersion[],
  { merchantId, status, role, channel }: Omit<Rule, "id">,
): RuleVersion[] {
  if (merchantId === null) return [];
  const ofPlace = rules.filter(
    (rule) => rule.status === status && rule.role === role && rule.channel === channel,
  );
  return ofPlace.some((rule) => rule.merchantId === merchantId)
    ? []
    : ofPlace.filter((rule) => rule.merchantId === null);
}

const current = (
  rules: readonly RuleVersion[],
  { status, role, channel, template }: Options,
  merchantId: string | null,
) =>
  rules.find(
    (rule) =>
      rule.merchantId === merchantId &&
      rule.status === status &&
      rule.role === role &&
      rule.channel === channel &&
      rule.template === (template ?? status),
  );

const weekInSeconds = 7 * 86_400;

function changed(before: Rule | undefined, given: Options): Omit<Rule, "id"> {
  return {
    merchantId: given.merchant ?? null,
    status: given.status,
    role: given.role,
    channel: given.channel,
    template: given.template ?? given.status,
    delay: given.delay ?? before?.delay ?? 0,
    atTime: chosen(given.at, before?.atTime ?? null),
    sendWithin: chosen(given.sendWithin, before ? before.sendWithin : weekInSeconds),
    onlyWhileCurrent: given.onlyWhileCurrent ?? before?.onlyWhileCurrent ?? false,
    newestReplaces: given.newestReplaces ?? before?.newestReplaces ?? true,
    onUnknown: given.onUnknown ?? before?.onUnknown ?? "resend",
    silent: given.silent ?? before?.silent ?? false,
  };
}

const describe = (rule: Omit<Rule, "id">): string =>
  `${rule.merchantId ?? "every merchant"}, ${rule.status}: ${rule.role} by ${rule.channel}, ${rule.template}, ${whenIt({ id: "", ...rule })}; ${whatItDoes({ id: "", ...rule })}`;

/** Commander takes a null for an empty text. */
const none = "none";

const orNone =
  <T>(parse: (given: string) => T) =>
  (given: string): T | typeof none => {
    try {
      return given === none ? none : parse(given);
    } catch (error) {
      if (error instanceof InvalidArgumentError)
        throw new InvalidArgumentError(`${error.message.replace(/\.$/, "")}, or none.`);
      throw error;
    }
  };

/** What was given, else what is so already; `none` is null. */
const chosen = <T>(given: T | typeof none | undefined, before: T | null): T | null =>
  given === undefined ? before : given === none ? null : given;
