import type { LedgerOptions } from "@owed/ledger";
import { Resource } from "sst/resource";
import * as v from "valibot";
import { signToken } from "./iam.ts";
import { namedIssues } from "./issues.ts";
import { connectionsEach } from "./parse-settings.ts";
import type { Stage } from "./step.ts";

const queue = v.object({ url: v.pipe(v.string(), v.url()) });

const deadLetters = v.object({ url: v.pipe(v.string(), v.url()), arn: v.string() });

const address = {
  host: v.string(),
  port: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535)),
  database: v.string(),
};

const shapes = {
  /** What SST links everywhere. */
  App: v.object({ stage: v.string() }),
  Database: v.variant("auth", [
    v.object({
      ...address,
      auth: v.literal("iam"),
      // A token is a password for a quarter of an hour: it goes to nobody but the server that it is for.
      tls: v.literal("verify"),
      region: v.string(),
    }),
    v.object({
      ...address,
      auth: v.literal("password"),
      tls: v.optional(v.picklist(["verify", "off"]), "verify"),
      username: v.string(),
      password: v.string(),
    }),
  ]),
  /** The database's master user, whom migrate alone logs in as. */
  MasterSecret: v.object({ arn: v.string() }),
  NotificationQueue: queue,
  NotificationDlq: deadLetters,
  /** While merchants move over from another sender; nobody consumes it. */
  ShadowQueue: queue,
  FeedbackQueue: queue,
  FeedbackDlq: deadLetters,
  EventQueue: queue,
  EventDlq: deadLetters,
  /** Text messages: none are sent where it is not linked. */
  Sms: v.object({ originationIdentity: v.string(), configurationSet: v.nullish(v.string(), null) }),
  /** What merchants' signing secrets are derived from: none are called where it is not linked. */
  WebhookKey: v.object({ value: v.string() }),
  /** Networks that may be called although they are not public, and who vouches for their servers. */
  WebhookNetwork: v.object({ allow: v.array(v.string()), ca: v.nullish(v.string(), null) }),
  Email: v.object({ sender: v.string(), configurationSet: v.nullish(v.string(), null) }),
};

/** A linked resource is missing or has another shape than the functions expect. */
export class InvalidResource extends Error {
  override readonly name = "InvalidResource";
}

/**
 * A resource that SST links to this function, parsed: from `SST_RESOURCE_<Name>` on one machine, from the
 * deployment on AWS. Throws `InvalidResource` naming the field.
 */
export function resource<Name extends keyof typeof shapes>(name: Name): v.InferOutput<(typeof shapes)[Name]> {
  const given: unknown = name in Resource ? Reflect.get(Resource, name) : undefined;
  const parsed = v.safeParse(shapes[name], given);
  if (parsed.success) return parsed.output;
  const wrong = namedIssues(parsed.issues, "it");
  throw new InvalidResource(
    `the linked resource ${name} is not as expected (${wrong}); link it, or set SST_RESOURCE_${name}`,
  );
}

/** The same where SST links it; null where it does not. */
export const linked = <Name extends keyof typeof shapes>(name: Name) =>
  name in Resource ? resource(name) : null;

/** Whoever works with the ledger, each with a database role of its own: `owed_sweep`, `owed_operator`, … */
export type LedgerUser = Stage | "operator" | "reader";

/**
 * How a function, or a person, reaches the ledger with no more rights than its role has: it logs in as the role with a
 * token of IAM, or as another user who takes the role on. One container runs one invocation at a time: two connections
 * let the sweep pipeline.
 *
 * @param deadline seconds that a statement may take
 */
export function ledgerOptions(who: LedgerUser, deadline: number): LedgerOptions {
  const link = resource("Database");
  const { host, port, database, tls } = link;
  const role = `owed_${who}`;
  const plans = who === "operator" || who === "reader" ? "auto" : "generic";
  const common = { applicationName: `owed-${who}`, connections: connectionsEach, deadline, plans } as const;
  const options = { host, port, database, tls, ...common };
  if (link.auth === "password") return { ...options, user: link.username, password: link.password, role };
  const { region } = link;
  return { ...options, user: role, password: () => signToken({ host, port, region, user: role }) };
}
