// What comes back about text messages: without the client that sends them.
export { parseSmsEvent, type SmsProof } from "./event.ts";
export { parseInboundSms } from "./inbound.ts";
