import { createFaults as create, type Fault, type Faults } from "../provider/fault.ts";
import type { SmsFailure } from "./errors.ts";
import type { SmsFate } from "./fate.ts";
import type { Text } from "./text.ts";

/** What shall go wrong with a text. */
export type SmsFault = Fault<SmsFate, SmsFailure>;

/** Faults for tests and drills; a rule sees each text that is valid. */
export type SmsFaults = Faults<Text, SmsFate, SmsFailure>;

export const createFaults = (): SmsFaults => create<Text, SmsFate, SmsFailure>();
