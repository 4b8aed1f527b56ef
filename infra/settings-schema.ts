import { settingsSchema } from "@owed/functions/parse-settings";
import * as v from "valibot";
import { address, mailbox } from "./sender.ts";

const shaped = (pattern: RegExp, what: string) =>
  v.pipe(
    v.string(),
    v.rawCheck(({ dataset, addIssue }) => {
      if (dataset.typed && !pattern.test(dataset.value)) addIssue({ message: `must be ${what}` });
    }),
  );
const flag = (fallback: boolean) => v.optional(v.boolean(), fallback);
const count = (fallback: number, least: number, most: number) =>
  v.optional(v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most)), fallback);

/** ISO 8601 to the second, as RDS restores; without an offset it would be the time of whoever deploys. */
const instant =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** What CloudWatch Logs keeps: it takes no other numbers of days. */
const logDays = v.picklist([1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 3653]);

/** Text messages through AWS End User Messaging: who they come from is either `existing`, or a `number` made here. */
const sms = v.strictObject({
  /**
   * What the account has already, as its ARN ends: a number, a pool of them, or a sender id with its country. Whatever
   * must be registered for days is made in the console, and named here.
   */
  existing: v.optional(
    v.nullable(
      shaped(
        /^(phone-number\/phone-[\w-]{1,64}|pool\/pool-[\w-]{1,64}|sender-id\/[\w-]{1,11}\/[A-Z]{2})$/,
        "phone-number/phone-…, pool/pool-…, or sender-id/<name>/<country>, as its ARN ends",
      ),
    ),
    null,
  ),
  /** A number that is asked for here, and paid for each month. AWS gives those at once that need no registration. */
  number: v.optional(
    v.nullable(
      v.strictObject({
        /** ISO 3166-1. */
        country: shaped(/^[A-Z]{2}$/, "a country of two letters, such as GB"),
        /** `SIMULATOR` reaches AWS's own test numbers alone. */
        kind: v.picklist(["LONG_CODE", "TOLL_FREE", "TEN_DLC", "SIMULATOR"]),
        /** A finished registration that the number is asked for with: of its campaign, where it is `TEN_DLC`. */
        registration: v.optional(
          v.nullable(
            shaped(/^registration-[\w-]{1,64}$/, "a registration, such as registration-0123456789abcdef"),
          ),
          null,
        ),
      }),
    ),
    null,
  ),
  /** Recipients can answer, and STOP is heard at once: without it the ledger learns of it from the next refusal. */
  twoWay: flag(true),
  /** US dollars that AWS lets the account spend on texts in a month, 1 in a new one: told of at four fifths. */
  monthlySpend: count(1, 1, 10_000_000),
});

/** A stage's settings. A section that is not given has its defaults. */
export const schema = v.strictObject({
  /**
   * Deploys the schedule and the event sources of deliver and feedback switched off: nothing is sent and nothing decided
   * while the database is put back. Ingest goes on, so events wait nowhere. `SweepMissing` alarms meanwhile: it is true.
   */
  hold: flag(false),
  /** Webhooks call out to anybody's servers: they need NAT, and the secret `WebhookKey`. */
  webhooks: flag(false),
  network: v.optional(
    v.strictObject({
      /** A NAT gateway in each zone; with webhooks when not given. Dearer than the endpoints, see network.ts. */
      nat: v.optional(v.nullable(v.boolean()), null),
      /** Interface endpoints for SQS, SES and Secrets Manager; without NAT when not given. */
      endpoints: v.optional(v.nullable(v.boolean()), null),
      /** Networks that reach the bastion, such as `203.0.113.0/28`. None: there is no bastion. */
      bastion: v.optional(v.array(v.string()), []),
    }),
    {},
  ),
  database: v.optional(
    v.strictObject({
      /** Major version: 16 to 18 are tested, RDS has 18 since 18.1. Minor ones come by themselves. */
      version: v.optional(v.picklist(["16", "17", "18"]), "18"),
      /** RDS instance class without `db.`: the smallest carries a million notifications a month. */
      instance: v.optional(
        shaped(/^[a-z0-9]+\.[a-z0-9]+$/, "an RDS instance class without db., such as t4g.micro"),
        "t4g.micro",
      ),
      /** A second instance in another zone takes over when the first fails, within a minute or two. */
      multiAz: flag(false),
      /** GiB at first, and at most: RDS lets it grow, never shrink. */
      storage: count(20, 20, 65_536),
      mostStorage: count(100, 22, 65_536),
      /** 100 fit into the smallest instance's gigabyte. */
      maxConnections: count(100, 50, 5000),
      /** The caps of the functions' database roles, as migration 10 sets them: `ALTER ROLE … CONNECTION LIMIT` first. */
      roleConnections: v.optional(
        v.strictObject({
          ingest: count(16, 1, 5000),
          deliver: count(32, 1, 5000),
          feedback: count(16, 1, 5000),
        }),
        {},
      ),
      /** Days to which the database can be put back, and the events since can be replayed. */
      backupDays: count(7, 1, 35),
      /**
       * Points in time to which the database is put back, such as `{ to: "2026-11-30T09:00:00Z" }`. Each makes another
       * instance from the one before it, and the last is the one that everything uses: so entries are added, never
       * changed. The earlier instances stay as they are, and cost as much.
       */
      restores: v.optional(
        v.pipe(
          v.array(
            v.strictObject({ to: shaped(instant, "a time with its offset, such as 2026-11-30T09:00:00Z") }),
          ),
          v.maxLength(5),
        ),
        [],
      ),
      /** Who else reaches the database, at 5432 alone: nobody, unless named. The role `owed_platform` is for them. */
      clients: v.optional(
        v.strictObject({
          /** Security groups of this network, or of one that is peered with it in this region and account. */
          securityGroups: v.optional(
            v.array(shaped(/^sg-[0-9a-f]{8,17}$/, "a security group, such as sg-0123456789abcdef0")),
            [],
          ),
          /** Private networks of RFC 1918, such as `10.20.0.0/16`. */
          networks: v.optional(v.array(v.string()), []),
        }),
        {},
      ),
      /** Performance Insights: which statements wait for what. */
      insights: flag(false),
    }),
    {},
  ),
  concurrency: v.optional(
    v.strictObject({
      /** Concurrent executions that the account allows in this region: 10 in a new one. */
      account: count(10, 10, 1_000_000),
      /** SQS event sources take 2 at least. `deliver`'s is `functions.deliver.concurrency`. */
      ingest: count(2, 2, 1000),
      feedback: count(2, 2, 1000),
      /** Keeps one execution for the sweep; AWS refuses it where fewer than 100 would be left to the others. */
      reserveSweep: flag(false),
    }),
    {},
  ),
  /** The sweep also runs each minute while `sst dev` does. It goes on when the session has ended. */
  scheduleInDev: flag(false),
  /** A second notification queue that nobody consumes: what Owed would send for merchants in shadow is published there. */
  shadowQueue: flag(false),
  email: v.optional(
    v.strictObject({
      /** Who the emails come from: an address, or `Name <address>`. The default can send to nobody. */
      from: v.optional(shaped(mailbox, "an address, or Name <address>"), "Owed <owed@example.com>"),
      /** What SES verifies, made here: the sender's whole `domain`, or its `address` alone. */
      identity: v.optional(v.picklist(["domain", "address"]), "domain"),
      /**
       * What the account has verified already, such as `shop.com` for `notify@mail.shop.com`: then none is made. An
       * identity is unique in its account and region, so of stages that share one all but the first name it here.
       */
      existing: v.optional(v.nullable(v.string()), null),
      /** Who writes a domain's DNS records: this deployment into `route53`, or somebody else, by hand. */
      dns: v.optional(v.picklist(["route53", "manual"]), "route53"),
      /** The account is in SES's sandbox: its recipients are identities too, and asked for by IAM. */
      sandbox: flag(false),
    }),
    {},
  ),
  /** Text messages. None are sent until this is given: each costs some cents, and a sender takes days to be registered. */
  sms: v.optional(v.nullable(sms), null),
  alarm: v.optional(
    v.strictObject({
      /** Who is told by email. Each must confirm once. */
      emails: v.optional(v.array(shaped(address, "an address")), []),
      /** Seconds for which a notification may be owed, or a message may wait: a breaker's longest pause is far less. */
      oldestOwed: count(900, 120, 86_400),
      /** Failed, refused or unrecorded sends in five minutes that are nobody's business yet. */
      deliveryErrors: count(20, 0, 1_000_000),
      /** Unknown outcomes in five minutes likewise: each may become a duplicate. */
      unknown: count(0, 0, 1_000_000),
    }),
    {},
  ),
  /** Days for which CloudWatch keeps the functions' logs; the ledger needs none of them. */
  logDays: v.optional(logDays, 30),
  /** MB of each function: a Lambda's share of a processor grows with them. */
  memory: count(512, 128, 10_240),
  /** The functions' own settings, handed on to them. */
  functions: v.optional(settingsSchema, {}),
});

/** What may be given; all of it may be left out. */
export type GivenSettings = v.InferInput<typeof schema>;
