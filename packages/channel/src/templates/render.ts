import { Liquid, type Template } from "liquidjs";
import type { SendRequest } from "../channel.ts";
import { RefusedError } from "../errors.ts";
import { line } from "../text.ts";
import { chooseLocale } from "./choose.ts";
import { htmlLayout, textLayout } from "./layout.ts";
import { isTemplateName } from "./locale.ts";

export type Rendered = { subject: string; text: string; html: string };

/** Code points. */
const maxSubject = 100;
const maxValue = 80;

// jsTruthy: an empty greeting is none.
const strict = { strictVariables: true, strictFilters: true, ownPropertyOnly: true, jsTruthy: true };
const plain = new Liquid(strict);
/** Escapes every value, and isolates it, so that one of another direction disturbs no sentence. */
const markup = new Liquid({ ...strict, outputEscape: (value) => `<bdi>${escapeHtml(String(value))}</bdi>` });

/**
 * The email of one notification, in the recipient's language. Every value is cleaned to one line first.
 * @throws RefusedError: `NoTemplate` for a template that does not exist, `InvalidShipment` for a time that is none.
 */
export function render(request: SendRequest): Rendered {
  const { template, role, shipment } = request;
  if (!isTemplateName(template)) {
    throw new RefusedError("NoTemplate", `no template "${line(String(template), 64)}"`);
  }
  const { locale, formats } = chooseLocale(request.locale);
  const message = locale.messages[template];
  const values = {
    name: line(request.name ?? "", maxValue),
    merchant: line(request.merchant.name, maxValue) || "—",
    parcel: line(shipment.trackingNumber, maxValue) || "—",
    when: time(shipment.occurredAt, formats),
  };
  // Only a buyer is a person we talk to; the others read a line in a shared inbox.
  const greeting = values.name ? locale.greeting : locale.greetingWithoutName;
  const parts = {
    greeting: role === "buyer" ? greeting : "",
    body: role === "buyer" ? message.buyer : message.staff,
    footer: locale.footer,
  };
  const subject = line(run(plain, message.subject, values), maxSubject);
  const frame = { ...values, subject, lang: locale.tag, dir: locale.dir, labels: locale.labels };
  return {
    subject,
    text: run(plain, textLayout, { ...frame, ...filled(plain, parts, values) }),
    html: run(markup, htmlLayout, { ...frame, ...filled(markup, parts, values) }),
  };
}

type Values = Record<string, unknown>;

function filled(engine: Liquid, parts: Record<string, string>, values: Values): Record<string, string> {
  return Object.fromEntries(Object.entries(parts).map(([key, source]) => [key, run(engine, source, values)]));
}

/** Each engine's parsed sources; there are as many as the templates have sentences. */
const parsed = new WeakMap<Liquid, Map<string, Template[]>>();

function run(engine: Liquid, source: string, values: Values): string {
  const cache = parsed.get(engine) ?? new Map<string, Template[]>();
  parsed.set(engine, cache);
  const template = cache.get(source) ?? engine.parse(source);
  cache.set(source, template);
  return String(engine.renderSync(template, values));
}

/** The recipient's time zone is not known, so the time says its own. */
function time(at: Date, locale: string): string {
  if (Number.isNaN(at.getTime())) throw new RefusedError("InvalidShipment", "occurredAt is no date");
  const day = { day: "numeric", month: "long", year: "numeric" } as const;
  const clock = { hour: "2-digit", minute: "2-digit", timeZone: "UTC", timeZoneName: "short" } as const;
  return new Intl.DateTimeFormat(locale, { ...day, ...clock }).format(at);
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
