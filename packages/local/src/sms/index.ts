export type { SmsEvent } from "./event.ts";
export type { SmsFate } from "./fate.ts";
export type { SmsFault, SmsFaults } from "./faults.ts";
export type { InboundText } from "./inbound.ts";
export type { SmsLimits } from "./limits.ts";
export type { SentText, SmsRow } from "./outbox.ts";
export { type LocalSms, type SmsOptions, startSms } from "./start.ts";
export type { Text } from "./text.ts";
