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
    name: "a sweep each 90 seconds",
    settings: { functions: { sweep: { every: 90 } } },
    settingsError: /functions\.sweep\.every: EventBridge Scheduler beats in whole minutes/,
  },
];
