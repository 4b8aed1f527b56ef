import type { Email } from "./email.ts";
import { SesError } from "./errors.ts";
import { parseRawEmail } from "./raw.ts";

/**
 * The email in the form that SendEmail or SendRawEmail posts. Nothing is checked but what must be there.
 *
 * @throws SesError ValidationError
 */
export function parseEmail(action: Email["action"], form: URLSearchParams): Email {
  const configurationSet = form.get("ConfigurationSetName") ?? undefined;
  if (action === "SendRawEmail") {
    const raw = parseRawEmail(Buffer.from(required(form, "RawMessage.Data"), "base64").toString("utf8"));
    const destinations = members(form, "Destinations");
    return {
      ...raw,
      source: form.get("Source") ?? raw.source,
      // Destinations, when given, replaces the addresses of the headers.
      ...(destinations.length > 0 && { to: destinations, cc: [], bcc: [] }),
      tags: { ...raw.tags, ...tags(form) },
      configurationSet: configurationSet ?? raw.configurationSet,
    };
  }
  return {
    action,
    source: required(form, "Source"),
    to: members(form, "Destination.ToAddresses"),
    cc: members(form, "Destination.CcAddresses"),
    bcc: members(form, "Destination.BccAddresses"),
    replyTo: members(form, "ReplyToAddresses"),
    subject: required(form, "Message.Subject.Data"),
    text: form.get("Message.Body.Text.Data") ?? undefined,
    html: form.get("Message.Body.Html.Data") ?? undefined,
    tags: tags(form),
    configurationSet,
  };
}

/** `List.member.1`, `List.member.2`, … */
function members(form: URLSearchParams, list: string): string[] {
  const values: string[] = [];
  for (let n = 1; ; n++) {
    const value = form.get(`${list}.member.${n}`);
    if (value === null) return values;
    values.push(value);
  }
}

function tags(form: URLSearchParams): Record<string, string> {
  const found: Record<string, string> = {};
  for (let n = 1; ; n++) {
    const name = form.get(`Tags.member.${n}.Name`);
    if (name === null) return found;
    found[name] = form.get(`Tags.member.${n}.Value`) ?? "";
  }
}

function required(form: URLSearchParams, name: string): string {
  const value = form.get(name);
  if (value !== null) return value;
  const why = `1 validation error detected: Value null at '${name}' failed to satisfy constraint: Member must not be null`;
  throw new SesError("ValidationError", why);
}
