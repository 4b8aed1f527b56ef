export type { Email } from "./email.ts";
export type { SesEvent, SesMail } from "./event.ts";
export type { Fate } from "./fate.ts";
export type { SesFault, SesFaults } from "./faults.ts";
export type { SentEmail } from "./mailbox.ts";
export type { SendQuota } from "./quota.ts";
export { type LocalSes, type SesOptions, startSes } from "./start.ts";
