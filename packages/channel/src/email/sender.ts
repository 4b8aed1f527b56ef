import { ConfigurationError, RefusedError } from "../errors.ts";
import { mailbox, parseAddress } from "./address.ts";

/** Our own sender: the address alone, and the mailbox as it stands in the From header. */
export type Sender = { address: string; mailbox: string };

/**
 * Parses `address` or `Name <address>`.
 * @throws ConfigurationError: a bad sender would make SES refuse every row, so it is found before the first.
 */
export function parseSender(from: string): Sender {
  const match = /^\s*"?(?<name>[^<>"]*?)"?\s*<(?<address>[^<>]+)>\s*$/.exec(from);
  try {
    const address = parseAddress(match?.groups?.address ?? from.trim());
    return { address, mailbox: mailbox(match?.groups?.name, address) };
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    throw new ConfigurationError(
      `The email channel's sender "${from}" is unusable (${error.message}). Set it to "address" or "Name <address>".`,
    );
  }
}
