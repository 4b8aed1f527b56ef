import type { GivenSettings } from "../../infra/settings.ts";

/** A stage as it may be asked for. */
export type Variant = { title: string; stage: string; dev: boolean; settings: GivenSettings };

/** Email, texts from a number of the stage's own, and webhooks. */
export const everyChannel: GivenSettings = {
  webhooks: true,
  sms: { number: { country: "GB", kind: "LONG_CODE" } },
};

/** All that the rules must hold in: the three stages, and each setting that adds or changes resources. */
export const variants: Variant[] = [
  { title: "production", stage: "production", dev: false, settings: {} },
  { title: "staging", stage: "staging", dev: false, settings: {} },
  { title: "dev", stage: "dev", dev: true, settings: {} },
  {
    title: "production with every channel and a larger account",
    stage: "production",
    dev: false,
    settings: { ...everyChannel, concurrency: { account: 1000, reserveSweep: true } },
  },
  {
    title: "staging with a bastion, a shadow queue, DNS by hand, and texts from a pool that is there",
    stage: "staging",
    dev: false,
    settings: {
      network: { bastion: ["203.0.113.0/28", "198.51.100.7/32"] },
      shadowQueue: true,
      email: { dns: "manual", sandbox: true },
      sms: { existing: "pool/pool-0123456789abcdef0123456789abcdef", monthlySpend: 500 },
    },
  },
  {
    title: "a developer's own, with the longest name",
    stage: "twenty-letters-or-so",
    dev: false,
    settings: {},
  },
  {
    title: "production that is held, was put back twice, and has clients",
    stage: "production",
    dev: false,
    settings: {
      hold: true,
      database: {
        restores: [{ to: "2026-11-20T09:00:00Z" }, { to: "2026-11-21T09:30:00+02:00" }],
        clients: { securityGroups: ["sg-0123456789abcdef0"], networks: ["10.20.0.0/16", "192.168.7.0/24"] },
      },
    },
  },
  {
    title: "dev with the schedule on, webhooks, and texts from a sender id",
    stage: "dev",
    dev: true,
    settings: {
      scheduleInDev: true,
      webhooks: true,
      sms: { existing: "sender-id/SHOPSEVEN/GB", twoWay: false },
    },
  },
];
