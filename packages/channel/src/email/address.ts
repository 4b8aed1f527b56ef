import { domainToASCII } from "node:url";
import { RefusedError } from "../errors.ts";
import { line } from "../text.ts";
import { encodedWords } from "./encoded-words.ts";

/** RFC 5321 section 4.5.3.1: a path of 256 octets, less its angle brackets. */
const maxAddressOctets = 254;
const maxLocalPartOctets = 64;
/** SES answers "Address length is more than 320 characters long", and counts the encoded name too. */
const maxMailboxLength = 320;
const maxNameLength = 60;

/** RFC 5322 dot-atom. Quoted local parts are left out: SES and most mailbox providers refuse them. */
const dotAtom = /^[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
/** Labels of letters, digits and hyphens; a last label of digits alone would be an IP address. */
const hostname = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** `domainToASCII` follows URLs' rules (`%61` is decoded, for one): these ASCII characters never reach it. */
const notInDomain = /[^a-z0-9.\u0080-\u{10FFFF}-]/iu;
/** Names that are safe as a quoted string. Every other name becomes an encoded word. */
const plainName = /^[A-Za-z0-9 .,'&()_-]+$/;

/**
 * Checks an address and returns it in the form SES takes: ASCII, its domain in IDNA form.
 * @throws RefusedError (`NoAddress`, `InvalidAddress`) with the fault, never with the address.
 */
export function parseAddress(address: string | null | undefined): string {
  if (!address) throw new RefusedError("NoAddress", "no address");
  // First: what follows may take more than a look at each character.
  refuse(Buffer.byteLength(address) > maxAddressOctets, "is too long");
  refuse(/\p{Cc}/u.test(address), "has a control character");
  refuse(/[\s\p{Z}]/u.test(address), "has a space");
  refuse(/[<>]/.test(address), "has an angle bracket");
  refuse(address.includes(","), "has a comma");
  const [local = "", domain = "", ...more] = address.split("@");
  refuse(more.length > 0 || !address.includes("@"), "has not exactly one @");
  // SES does not support SMTPUTF8 (RFC 6531).
  refuse(!/^\p{ASCII}*$/u.test(local), "has a local part that is not ASCII");
  // A mail server that decodes encoded words inside an address would deliver to another one.
  refuse(!dotAtom.test(local) || local.includes("=?"), "has a malformed local part");
  const host = notInDomain.test(domain) ? "" : domainToASCII(domain);
  refuse(!hostname.test(host), "has a malformed domain");
  const octets = local.length + 1 + host.length;
  refuse(local.length > maxLocalPartOctets || octets > maxAddressOctets, "is too long");
  return `${local}@${host}`;
}

/** The name as it may be shown: one clean line of at most 60 code points, or empty. */
export function cleanName(name: string | null | undefined): string {
  return line(name ?? "", maxNameLength);
}

/**
 * `address` with a display name, ready for a header: ASCII, no line break, at most as long as SES allows.
 * The name is cleaned, and cut by whole code points until it fits; an empty one is left out.
 */
export function mailbox(name: string | null | undefined, address: string): string {
  for (let max = maxNameLength; max > 0; max -= 4) {
    const phrase = displayName(line(name ?? "", max));
    const result = phrase ? `${phrase} <${address}>` : address;
    if (result.length <= maxMailboxLength) return result;
  }
  return address;
}

function displayName(name: string): string {
  if (name === "") return "";
  return plainName.test(name) ? `"${name}"` : encodedWords(name);
}

function refuse(faulty: boolean, fault: string): void {
  if (faulty) throw new RefusedError("InvalidAddress", `address ${fault}`);
}
