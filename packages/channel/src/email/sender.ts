import { ConfigurationError, RefusedError } from "../errors.ts";
import { line } from "../text.ts";
import { mailbox, parseAddress } from "./address.ts";

/** SES's limit of a mailbox. The pattern below takes the cube of a blank text's length. */
const longest = 320;

/** Our own sender: the address alone, and the mailbox as it stands in the From header. */
export type Sender = { address: string; mailbox: string };

/**
 * Parses `address` or `Name <address>`.
 * @throws ConfigurationError: a bad sender would make SES refuse every row, so it is found before the first.
 */
export function parseSender(from: string): Sender {
  const pattern = /^\s*"?(?<name>[^<>"]*?)"?\s*<(?<address>[^<>]+)>\s*$/;
  const match = from.length > longest ? null : pattern.exec(from);
  try {
    const address = parseAddress(match?.groups?.address ?? from.trim());
    return { address, mailbox: mailbox(match?.groups?.name, address) };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    throw new ConfigurationError(
      `The email channel's sender "${line(from, longest)}" is unusable (${error.message}). Set it to "address" or "Name <address>".`,
    );
  }
}
