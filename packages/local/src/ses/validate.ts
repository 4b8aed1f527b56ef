import { type Email, recipients } from "./email.ts";
import { invalidValue } from "./errors.ts";

const MAX_RECIPIENTS = 50;

/** The characters of message tags (SES developer guide, MessageTag). */
const TAG = /^[A-Za-z0-9_-]{1,256}$/;

const CONTROL = /\p{Cc}/u;

/** Refuses what SES refuses. @throws SesError InvalidParameterValue */
export function checkEmail(email: Email): void {
  const everybody = recipients(email);
  if (everybody.length === 0) throw invalidValue("Missing required header 'To'.");
  if (everybody.length > MAX_RECIPIENTS) throw invalidValue(`Recipient count exceeds ${MAX_RECIPIENTS}.`);
  for (const address of [email.source, ...everybody, ...email.replyTo]) checkAddress(address);
  if (/[\r\n\0]/.test(email.subject)) throw invalidValue("Header 'Subject' contains a line break or NUL.");
  for (const [name, value] of Object.entries(email.tags)) {
    if (!TAG.test(name)) throw invalidValue(`Invalid tag name <${name}>, ${TAG_RULE}`);
    if (!TAG.test(value)) throw invalidValue(`Invalid tag value <${value}>, ${TAG_RULE}`);
  }
}

const TAG_RULE = "only 1 to 256 alphanumeric ASCII characters, '_' and '-' are allowed.";

/** `local@domain` or `Name <local@domain>`; SES takes both parts in ASCII only (domains in Punycode). */
function checkAddress(address: string): void {
  if (CONTROL.test(address)) throw invalidValue("Address contains a control character.");
  const bare = /<([^<>]*)>\s*$/.exec(address)?.[1] ?? address.trim();
  const at = bare.lastIndexOf("@");
  if (at < 1 || at === bare.length - 1) throw invalidValue("Missing final '@domain'");
  const [local, domain] = [bare.slice(0, at), bare.slice(at + 1)];
  if (/[^!-~]/.test(local)) throw invalidValue("Local address contains control, whitespace or non-ASCII.");
  if (/[^A-Za-z0-9.-]/.test(domain)) throw invalidValue("Domain contains illegal character");
}
