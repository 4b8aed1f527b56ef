import { createFaults as create, type Fault, type Faults } from "../provider/fault.ts";
import type { Email } from "./email.ts";
import type { Fate } from "./fate.ts";

/** What shall go wrong with an email, e.g. the error `MessageRejected`, status 400, headers `{ "retry-after": "120" }`. */
export type SesFault = Fault<Fate>;

/** Faults for tests and drills; a rule sees each email that is valid. */
export type SesFaults = Faults<Email, Fate>;

export const createFaults = (): SesFaults => create<Email, Fate>();
