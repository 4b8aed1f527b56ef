import { checkTemplates, type Finding, languages } from "@owed/channel/templates";
import { type Covered, coverage } from "@owed/cli/preview/coverage";
import { plural } from "@owed/cli/text/words";
import { html } from "hono/html";
import type { Context } from "../context.ts";
import type { Html } from "../page/page.ts";
import { table } from "../page/parts.ts";
import { commandLine } from "./command-line.ts";
import { addressOf } from "./query.ts";

let checked: Finding[] | undefined;
/** What is wrong in the language files, or missing. They are read at the start: once is enough. */
export const findings = (): Finding[] => {
  checked ??= checkTemplates();
  return checked;
};

/** Each template on each channel in each language: a link to what is sent. */
export function templatesView(context: Context): Html {
  const tags = [...languages().keys()];
  const errors = findings().filter(({ severity }) => severity === "error").length;
  return html`<p><a href="/rules">All rules</a></p>
  <p>Choose one to see what is sent, with the values of a sample parcel. What a language has not is said in English.</p>
  ${table<Covered>(
    "Templates, by channel and language",
    [
      { name: "Template", cell: ({ template }) => template },
      { name: "Channel", cell: ({ channel }) => channel },
      ...tags.map((locale) => ({ name: nameOf(locale), cell: (row: Covered) => linkTo(row, locale) })),
    ],
    coverage(),
  )}
  <h2>What somebody should know</h2>
  <p class="${errors > 0 ? "bad" : ""}">${plural(errors, "error")}, ${plural(findings().length - errors, "warning")} in the language files.</p>
  ${findingList(findings())}
  <h2>Change one</h2>
  <p>The texts are files of the product (docs/templates.md says how): change one, then look for mistakes.</p>
  ${commandLine(context, ["preview", "--check"])}`;
}

function linkTo({ template, channel, missing }: Covered, locale: string): Html {
  const gaps = missing[locale] ?? [];
  const address = addressOf("/rules/templates/preview", { template, channel, locale });
  return html`<a href="${address}" aria-label="${locale}, ${template} by ${channel}">${locale}</a>${gaps.length === 0 ? "" : html` <span class="warn">no ${gaps.join(", ")}</span>`}`;
}

/** A language's English name, with its tag where that says more. */
export const nameOf = (tag: string): string =>
  new Intl.DisplayNames("en", { type: "language" }).of(tag) ?? tag;

export const findingList = (of: readonly Finding[]): Html =>
  of.length === 0
    ? html``
    : html`<ul>${of.map(({ severity, locale, where, message }) => html`<li><strong class="${severity === "error" ? "bad" : "warn"}">${severity}</strong>: ${locale} ${where} <bdi>${message}</bdi></li>`)}</ul>`;
