import { parsePhoneNumberFromString } from "libphonenumber-js/min";
import { RefusedError } from "../errors.ts";

/** Characters. E.164 has 15 digits at most; the rest is there for people's eyes. */
const longest = 40;

/** As the ledger tells telephone numbers from other addresses. */
const international = /^\s*\+[0-9 ()./-]+$/;

/**
 * Checks a telephone number and returns it in E.164 form (`+436641234567`).
 *
 * Its country must exist, and have numbers of that length. Whether the number is in use nobody can tell, and the
 * ranges that operators hand out change faster than this code.
 *
 * @throws RefusedError (`NoAddress`, `InvalidAddress`) with the fault, never with the number.
 */
export function parseNumber(address: string | null | undefined): string {
  if (!address) throw new RefusedError("NoAddress", "no address");
  refuse(address.length > longest, "is too long");
  refuse(!international.test(address), "is not + and digits");
  const parsed = parsePhoneNumberFromString(address);
  if (!parsed) throw new RefusedError("InvalidAddress", "number is of no country");
  refuse(!parsed.isPossible(), "has no length that its country's numbers have");
  // `+43 (0)664 …` reads as two numbers: one with the 0, by its digits, and one without. Who opts out by the one
  // would go on hearing from us by the other.
  refuse(parsed.number !== address.replace(/[^+0-9]/g, ""), "has a national prefix");
  return parsed.number;
}

function refuse(faulty: boolean, fault: string): void {
  if (faulty) throw new RefusedError("InvalidAddress", `number ${fault}`);
}
