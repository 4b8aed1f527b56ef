import type { WouldTell } from "@owed/ledger";
import { mootText } from "../text/moot.ts";

/** Why one whom an event would tell would not be told all the same; null: would be. */
export const notSentFor = ({ moot, addressed }: WouldTell): string | null =>
  moot ? `not sent: ${mootText(moot)}` : addressed ? null : "not sent: no address";

/** The rule that it comes from, in words. */
export const ruleOf = ({ ruleId, version, ofMerchant }: WouldTell): string =>
  `${ruleId} version ${version}${ofMerchant ? ", the merchant's own" : ""}`;
