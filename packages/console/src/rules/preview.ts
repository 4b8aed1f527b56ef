import { channels, gaps, languages, templates } from "@owed/channel/templates";
import { costOf, rendered } from "@owed/cli/preview/render";
import { roles } from "@owed/ledger";
import { html } from "hono/html";
import type { Html } from "../page/page.ts";
import { facts } from "../page/parts.ts";
import { emailOf, type PreviewQuery, previewOf, valuesOf } from "./preview-query.ts";
import { findingList, findings, nameOf } from "./templates.ts";

/** One message as it is sent, with links to those beside it. */
export function previewView(query: PreviewQuery): Html {
  const missing = missingOf(query);
  return html`<p><a href="/rules/templates">All templates</a></p>
  ${choice("Template", "template", templates, query)}
  ${choice("Channel", "channel", channels, query)}
  ${choice("Language", "locale", [...languages().keys()], query, nameOf)}
  ${choice("To the", "role", roles, query)}
  <form method="get" class="ask" action="/rules/templates/preview">
    ${(["template", "channel", "locale", "role"] as const).map((name) => html`<input type="hidden" name="${name}" value="${query[name]}">`)}
    <label>Recipient's name <input name="name" maxlength="100" value="${query.name}"></label>
    <label>Merchant's name <input name="merchant" maxlength="100" value="${query.merchant}"></label>
    <label>Parcel's number <input name="parcel" maxlength="100" value="${query.parcel}"></label>
    <button>With these values</button>
  </form>
  ${missing.length === 0 ? "" : html`<p class="warn">${nameOf(query.locale)} has not all of it (${missing.join(", ")}): it is said in English.</p>`}
  ${message[query.channel](query, written(query))}
  ${found(query)}`;
}

const choice = (
  what: string,
  name: "template" | "channel" | "locale" | "role",
  values: readonly string[],
  query: PreviewQuery,
  shown: (value: string) => string = (value) => value,
): Html =>
  html`<nav class="choice" aria-label="${what}"><strong>${what}</strong><ul class="links">${values.map(
    (value) =>
      html`<li><a href="${previewOf(query, { [name]: value })}" ${value === query[name] ? html`class="chosen" aria-current="true"` : ""}>${shown(value)}</a></li>`,
  )}</ul></nav>`;

const missingOf = ({ locale, template, channel }: PreviewQuery): string[] => {
  const language = languages().get(locale);
  return language?.[channel] ? gaps(language, template, channel) : [channel];
};

type Written = { lang: string; dir: string };

/** The language that it is really in, and which way that runs. */
function written(query: PreviewQuery): Written {
  const language = missingOf(query).length === 0 ? languages().get(query.locale) : undefined;
  return { lang: language?.tag ?? "en", dir: language?.dir ?? "ltr" };
}

const message: Record<PreviewQuery["channel"], (query: PreviewQuery, written: Written) => Html> = {
  email(query, { lang, dir }) {
    const { subject, text } = rendered("email", query.template, valuesOf(query)).message;
    return html`<h2>Subject</h2>
    <p class="message" lang="${lang}" dir="${dir}">${subject}</p>
    <h2>As a page</h2>
    <iframe class="message-page" sandbox src="${emailOf(query)}" title="The email as a page"></iframe>
    <h2>As text alone</h2>
    <pre class="message" lang="${lang}" dir="${dir}" tabindex="0">${text}</pre>`;
  },
  sms(query, { lang, dir }) {
    const sms = rendered("sms", query.template, valuesOf(query)).message;
    return html`<h2>The text</h2>
    <p class="message" lang="${lang}" dir="${dir}">${sms.text}</p>
    ${facts([
      ["Segments, each paid for", sms.segments],
      ["Encoding", sms.encoding],
      ["In all", costOf(sms)],
    ])}`;
  },
  webhook(query, { lang, dir }) {
    const { message } = rendered("webhook", query.template, valuesOf(query));
    return html`<h2>In the merchant's inbox</h2>
    <p class="message" lang="${lang}" dir="${dir}"><strong>${message.title}</strong></p>
    <p class="message" lang="${lang}" dir="${dir}">${message.text}</p>
    <h2>As JSON</h2>
    <p>These are in the <code>data</code> of what is posted, beside the ids and the status: docs/webhooks.md has it whole.</p>
    <pre class="message" tabindex="0">${JSON.stringify(message, null, 2)}</pre>`;
  },
};

/** What is wrong with this message in this language, or with what all of that channel's messages share. */
function found({ template, channel, locale }: PreviewQuery): Html {
  const own = `templates.${template}.${channel}`;
  const of = findings().filter(
    (one) =>
      (one.locale === "" || one.locale === locale) &&
      [own, channel].some((place) => one.where === place || one.where.startsWith(`${place}.`)),
  );
  return html`<h2>What somebody should know</h2>
  ${of.length === 0 ? html`<p class="good">Nothing: no value is missing, and it fits with the longest ones too.</p>` : findingList(of)}`;
}
