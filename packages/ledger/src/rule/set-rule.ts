import { Refused, refusedBy } from "../connect/errors.ts";
import type { Ledger } from "../connect/ledger.ts";
import type { Act } from "../operate/refusal.ts";
import type { Rule } from "./rule.ts";

type NewRule = Omit<Rule, "id">;

/**
 * Sets what a status tells a role on a channel by a template: a new version of the rule where it differs from the one
 * that counts. What is owed already keeps the version that it came from. Returns the id of the version that counts now.
 *
 * @throws Refused with the field and the reason
 */
export async function setRule(ledger: Ledger, rule: NewRule, act: Act): Promise<string> {
  const id = await ask(ledger, rule, act, false);
  if (id === null) throw new Error("the ledger set no rule");
  return id;
}

/**
 * What `setRule` would say, without setting anything: the id of the version that counts where it would stay, else null.
 *
 * @throws Refused as `setRule` does
 */
export const trySettingRule = (ledger: Ledger, rule: NewRule, act: Act): Promise<string | null> =>
  ask(ledger, rule, act, true);

async function ask(
  ledger: Ledger,
  rule: NewRule,
  { actor, why }: Act,
  dryRun: boolean,
): Promise<string | null> {
  try {
    const [row] = await ledger.run(
      (sql) => sql<{ id: string | null }[]>`
        SELECT owed.set_rule(${rule.merchantId}, ${rule.status}, ${rule.role}, ${rule.channel}, ${rule.template}, ${rule.delay},
          ${rule.atTime}, ${rule.sendWithin}, ${rule.onlyWhileCurrent}, ${rule.newestReplaces}, ${rule.onUnknown}, ${actor},
          ${why}, ${rule.silent}, ${dryRun})::text AS id`,
      { repeatable: true },
    );
    return row?.id ?? null;
  } catch (error) {
    const refusal = refusedBy(error);
    if (refusal) throw new Refused(refusal.field, refusal.reason, { cause: error });
    throw error;
  }
}
