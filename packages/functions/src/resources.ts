import type { LedgerOptions } from "@owed/ledger";
import { Resource } from "sst/resource";
import * as v from "valibot";
import { namedIssues } from "./issues.ts";

const queue = v.object({ url: v.pipe(v.string(), v.url()) });

const deadLetters = v.object({ url: v.pipe(v.string(), v.url()), arn: v.string() });

const shapes = {
  Database: v.object({
    host: v.string(),
    port: v.pipe(v.number(), v.integer()),
    database: v.string(),
    username: v.string(),
    password: v.string(),
    tls: v.optional(v.picklist(["verify", "off"]), "verify"),
  }),
  NotificationQueue: queue,
  NotificationDlq: deadLetters,
  FeedbackQueue: queue,
  FeedbackDlq: deadLetters,
  EventQueue: queue,
  EventDlq: deadLetters,
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

/** How this function reaches the ledger. One container runs one invocation at a time: two connections let the sweep pipeline. */
export function ledgerOptions(applicationName: string, deadline: number): LedgerOptions {
  const { username, ...database } = resource("Database");
  return { ...database, user: username, applicationName, connections: 2, deadline };
}
