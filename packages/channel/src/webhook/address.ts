import { RefusedError } from "../errors.ts";

/** Characters, as long as the ledger keeps an address. */
const longest = 320;

/**
 * The URL of a merchant's inbox as it is called: `https`, international names in ASCII, and odd spellings of IPv4
 * (`0x7f.1`, `2130706433`) as four numbers, as the WHATWG URL standard has them.
 * @throws RefusedError: `NoAddress`, or `InvalidAddress` with what is wrong.
 */
export function parseAddress(address: string | null | undefined): URL {
  if (address === undefined || address === null || address === "") {
    throw new RefusedError("NoAddress", "no address");
  }
  const invalid = (what: string) => new RefusedError("InvalidAddress", `address ${what}`);
  if (typeof address !== "string") throw invalid("is no text");
  if (address.length > longest) throw invalid("is too long");
  // A URL parser drops these without a word, or takes a backslash for a slash: what it reads is not what was written.
  if (/[\p{Cc}\s]/u.test(address)) throw invalid("has a space or a control character");
  if (address.includes("\\")) throw invalid("has a backslash");
  if (!/^https:\/\//i.test(address)) throw invalid("does not begin with https://");
  const url = URL.parse(address);
  if (url === null) throw invalid("is a malformed URL");
  if (url.username !== "" || url.password !== "") throw invalid("has a user name or password");
  if (!isUsable(url.port)) throw invalid("has a port below 1024 that is not 443");
  return url;
}

/** The ports below 1024 belong to other protocols, whose servers nobody shall talk to through us. */
const isUsable = (port: string): boolean => port === "" || Number(port) >= 1_024;
