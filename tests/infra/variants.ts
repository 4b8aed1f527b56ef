import type { GivenSettings } from "../../infra/settings.ts";

/** A stage as it may be asked for. */
export type Variant = { title: string; stage: string; dev: boolean; settings: GivenSettings };

/** All that the rules must hold in: the three stages, and each setting that adds or changes resources. */
export const variants: Variant[] = [
  { title: "production", stage: "production", dev: false, settings: {} },
  { title: "staging", stage: "staging", dev: false, settings: {} },
  { title: "dev", stage: "dev", dev: true, settings: {} },
  {
    title: "production with webhooks and a larger account",
    stage: "production",
    dev: false,
    settings: { webhooks: true, concurrency: { account: 1000, reserveSweep: true } },
  },
  {
    title: "staging with a bastion, a shadow queue and DNS by hand",
    stage: "staging",
    dev: false,
    settings: {
      network: { bastion: ["203.0.113.0/28", "198.51.100.7/32"] },
      shadowQueue: true,
      email: { dns: "manual", sandbox: true },
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
  { title: "dev with the schedule on", stage: "dev", dev: true, settings: { scheduleInDev: true } },
];
