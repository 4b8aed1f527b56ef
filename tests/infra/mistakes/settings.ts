import type { Mistake } from "./mistake.ts";

export const settingsMistakes: Mistake[] = [
  {
    name: "more concurrency than the account has",
    settings: { functions: { deliver: { concurrency: 40 } } },
    settingsError:
      /stage production: .*concurrency\.account: the functions run 46 at the same time.*account allows 10; lower theirs/,
  },
  {
    name: "more connections than the database has",
    settings: { concurrency: { account: 1000, ingest: 100 } },
    settingsError:
      /database\.maxConnections: .*under 80 % of it; raise it and the instance, or lower the concurrency/,
  },
  {
    name: "more workers than their database role lets in",
    settings: { concurrency: { account: 100 }, functions: { deliver: { concurrency: 10 } } },
    settingsError: /database\.roleConnections: deliver may open more connections than its role's cap/,
  },
  {
    name: "webhooks without NAT",
    settings: { webhooks: true, network: { nat: false } },
    settingsError: /network\.nat: webhooks need it; leave it out, or give true/,
  },
  {
    name: "no way out of the network",
    settings: { network: { endpoints: false } },
    settingsError: /network\.endpoints: without NAT/,
  },
  {
    name: "a bastion for everybody",
    settings: { network: { bastion: ["0.0.0.0/0"] } },
    settingsError: /network\.bastion: name networks .*never everybody's/,
  },
  {
    name: "one execution reserved in a small account",
    settings: { concurrency: { reserveSweep: true } },
    settingsError: /concurrency\.reserveSweep: AWS wants 100 left unreserved/,
  },
  {
    name: "three days of backups in production",
    settings: { database: { backupDays: 3 } },
    settingsError: /database\.backupDays: production keeps 7 at least/,
  },
  {
    name: "a sender of nobody's domain in production",
    settings: { email: { from: "Owed <owed@example.com>" } },
    settingsError: /email\.from: production needs a sender of your own domain/,
  },
  {
    name: "a restore to a time of nobody's zone",
    settings: { database: { restores: [{ to: "2026-11-20T09:00:00" }] } },
    settingsError: /database\.restores\.0\.to: must be a time with its offset/,
  },
  {
    name: "a restore to a time before the last one",
    // The second is an hour earlier, though it looks later.
    settings: {
      database: { restores: [{ to: "2026-11-20T09:00:00Z" }, { to: "2026-11-20T10:00:00+02:00" }] },
    },
    settingsError: /database\.restores: each is restored from the one before it, .*add another at the end/,
  },
  {
    name: "a sixth restore",
    settings: {
      database: { restores: [1, 2, 3, 4, 5, 6].map((day) => ({ to: `2026-11-0${day}T09:00:00Z` })) },
    },
    settingsError: /database\.restores: must be <=5/,
  },
  {
    name: "a database for everybody",
    settings: { database: { clients: { networks: ["0.0.0.0/0"] } } },
    settingsError: /database\.clients\.networks: name private networks .*never everybody's/,
  },
  {
    name: "a database for somebody on the internet",
    settings: { database: { clients: { networks: ["10.20.0.0/16", "203.0.113.0/28"] } } },
    settingsError: /database\.clients\.networks: name private networks/,
  },
  {
    name: "a database for all of its own network",
    settings: { database: { clients: { networks: ["10.0.0.0/16"] } } },
    settingsError: /database\.clients\.networks: .*not this one's own 10\.0\.0\.0\/16/,
  },
  {
    name: "a client by its name",
    settings: { database: { clients: { securityGroups: ["platform"] } } },
    settingsError: /database\.clients\.securityGroups\.0: must be a security group, such as sg-/,
  },
  {
    name: "a schedule that is asked for and held",
    settings: { hold: true, scheduleInDev: true },
    settingsError: /hold: it switches off the schedule that scheduleInDev asks for/,
  },
  {
    name: "texts from nobody",
    settings: { sms: { monthlySpend: 100 } },
    settingsError: /sms: give either existing, or number/,
  },
  {
    name: "texts from two",
    settings: { sms: { existing: "pool/pool-0123", number: { country: "GB", kind: "LONG_CODE" } } },
    settingsError: /sms: give either existing, or number/,
  },
  {
    name: "texts from a number as people write it",
    settings: { sms: { existing: "+44 7700 900999" } },
    settingsError:
      /sms\.existing: must be phone-number\/phone-…, pool\/pool-…, or sender-id\/<name>\/<country>/,
  },
  {
    name: "a number of a country by its name",
    settings: { sms: { number: { country: "uk", kind: "LONG_CODE" } } },
    settingsError: /sms\.number\.country: must be a country of two letters/,
  },
  {
    name: "10DLC without its campaign",
    settings: { sms: { number: { country: "US", kind: "TEN_DLC" } } },
    settingsError: /sms\.number: TEN_DLC is of the US alone, and needs the registration/,
  },
  {
    name: "production's texts to nobody's phone",
    settings: { sms: { number: { country: "US", kind: "SIMULATOR" } } },
    settingsError: /sms\.number\.kind: a SIMULATOR reaches no phone/,
  },
  {
    name: "answers to a sender id",
    settings: { sms: { existing: "sender-id/SHOPSEVEN/GB" } },
    settingsError: /sms\.twoWay: nobody can answer a sender id; give false/,
  },
  {
    name: "a sweep each 90 seconds",
    settings: { functions: { sweep: { every: 90 } } },
    settingsError: /functions\.sweep\.every: EventBridge Scheduler beats in whole minutes/,
  },
];
