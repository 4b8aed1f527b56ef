import { channels, languages, templates } from "@owed/channel/templates";
import { Failure } from "../errors.ts";
import type { Result } from "../output.ts";
import type { Options } from "./options.ts";
import { type Channel, costOf, rendered } from "./render.ts";

/** A follow-up is named by its status and what it says: `customs_hold.still`. */
const statusOf = (template: string): string => template.split(".")[0] ?? template;
const statuses = [...new Set(templates.map(statusOf))];

/** The messages of the templates and channels that were asked for. */
export function messages(options: Options): Result {
  const template = oneOf("template", options.template, templates);
  const status = oneOf("status", options.status, statuses);
  const channel = oneOf("channel", options.channel, channels);
  const wanted = templates.filter(
    (name) => (!template || name === template) && (!status || statusOf(name) === status),
  );
  if (wanted.length === 0)
    throw new Failure("usage", `the template ${template} is not of the status ${status}`);
  const shown = wanted.flatMap((template) =>
    channels
      .filter((name) => !channel || name === channel)
      .map((channel) => {
        const { message, lines, request } = shownOn[channel](template, options);
        return { of: { template, channel, locale: request.locale, role: request.role }, message, lines };
      }),
  );
  const note = noteOn(options.locale);
  return {
    json: { previews: shown.map(({ of, message }) => ({ ...of, ...message })), note },
    lines: [
      ...(note === null ? [] : [note, ""]),
      ...shown.flatMap(({ of, lines }) => [`— ${Object.values(of).join(", ")} —`, ...lines, ""]).slice(0, -1),
    ],
  };
}

/** What is shown of a language that has no file, nor one that it falls back to, such as `de` for `de-AT`. */
function noteOn(locale: string | undefined): string | null {
  if (locale === undefined) return null;
  const [language = ""] = locale.replaceAll("_", "-").toLowerCase().split("-");
  const known = [...languages().keys()];
  if (known.some((tag) => tag.toLowerCase() === language)) return null;
  return `There is no language file for ${locale}: English is shown, and sent. There are ${known.join(", ")}.`;
}

type Shown = Pick<ReturnType<typeof rendered>, "request"> & { message: object; lines: string[] };
const shownOn: Record<Channel, (template: string, options: Options) => Shown> = {
  email(template, options) {
    const { request, message } = rendered("email", template, options);
    return { request, message, lines: [message.subject, "", ...message.text.trimEnd().split("\n")] };
  },
  sms(template, options) {
    const { request, message } = rendered("sms", template, options);
    return { request, message, lines: [message.text, `(${costOf(message)})`] };
  },
  webhook(template, options) {
    const { request, message } = rendered("webhook", template, options);
    return { request, message, lines: [message.title, "", message.text] };
  },
};

/** The page of one email, to look at in a browser. */
export function page(options: Options): Result {
  const template = oneOf("template", options.template, templates);
  if (!template || (options.channel ?? "email") !== "email")
    throw new Failure("usage", "--html shows the email of one --template");
  const { html } = rendered("email", template, options).message;
  return { json: { template, html }, lines: html.trimEnd().split("\n") };
}

function oneOf<T extends string>(what: string, given: string | undefined, allowed: readonly T[]): T | null {
  if (given === undefined) return null;
  const found = allowed.find((name) => name === given);
  if (!found)
    throw new Failure("usage", `there is no ${what} "${given}": it is one of ${allowed.join(", ")}`);
  return found;
}
