import {
  channels,
  languages,
  renderEmail,
  renderSms,
  renderWebhook,
  sampleRequest,
  segmentsOf,
  templates,
} from "@owed/channel/templates";
import { Failure } from "../errors.ts";
import type { Result } from "../output.ts";
import { plural } from "../text/words.ts";
import type { Options } from "./options.ts";

/** A follow-up is named by its status and what it says: `customs_hold.still`. */
const statusOf = (template: string): string => template.split(".")[0] ?? template;
const statuses = [...new Set(templates.map(statusOf))];

type Channel = (typeof channels)[number];

function requestOf(options: Options, template: string) {
  const sample = sampleRequest();
  const { shipment, merchant } = sample;
  return sampleRequest({
    template,
    name: options.name ?? sample.name,
    locale: options.locale ?? sample.locale,
    timeZone: options.timeZone ?? sample.timeZone,
    role: options.role ?? sample.role,
    shipment: {
      ...shipment,
      trackingNumber: options.parcel ?? shipment.trackingNumber,
      occurredAt: options.at === undefined ? shipment.occurredAt : new Date(options.at),
    },
    merchant: {
      ...merchant,
      name: options.merchant ?? merchant.name,
      trackingUrl: options.trackingUrl ?? merchant.trackingUrl,
    },
  });
}

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
        const request = requestOf(options, template);
        const of = { template, channel, locale: request.locale, role: request.role };
        return { of, ...render[channel](request) };
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

type Request = ReturnType<typeof sampleRequest>;
const render: Record<Channel, (request: Request) => { message: object; lines: string[] }> = {
  email(request) {
    const message = renderEmail(request);
    return { message, lines: [message.subject, "", ...message.text.trimEnd().split("\n")] };
  },
  sms(request) {
    const body = renderSms(request);
    const { segments, encoding } = segmentsOf(body);
    const cost = `${plural(segments, "segment")}, ${encoding}, ${plural([...body].length, "character")}`;
    return { message: { text: body, segments, encoding }, lines: [body, `(${cost})`] };
  },
  webhook(request) {
    const message = renderWebhook(request);
    return { message, lines: [message.title, "", message.text] };
  },
};

/** The page of one email, to look at in a browser. */
export function page(options: Options): Result {
  const template = oneOf("template", options.template, templates);
  if (!template || (options.channel ?? "email") !== "email")
    throw new Failure("usage", "--html shows the email of one --template");
  const { html } = renderEmail(requestOf(options, template));
  return { json: { template, html }, lines: html.trimEnd().split("\n") };
}

function oneOf<T extends string>(what: string, given: string | undefined, allowed: readonly T[]): T | null {
  if (given === undefined) return null;
  const found = allowed.find((name) => name === given);
  if (!found)
    throw new Failure("usage", `there is no ${what} "${given}": it is one of ${allowed.join(", ")}`);
  return found;
}
