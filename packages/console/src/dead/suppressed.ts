import { liftAdvice } from "@owed/cli/advice";
import { mask } from "@owed/cli/text/mask";
import { liftSuppression, listSuppressions, type Suppression } from "@owed/ledger";
import type { Hono } from "hono";
import { html } from "hono/html";
import * as v from "valibot";
import type { Context } from "../context.ts";
import { action, one } from "../guard/act.ts";
import { type Html, show } from "../page/page.ts";
import { form, table, time } from "../page/parts.ts";
import { parse } from "./choice.ts";
import { hidden, more, notification, shown, within } from "./parts.ts";

const address = v.pipe(
  v.string(),
  v.trim(),
  v.maxLength(1000, "An address has 1,000 characters at most."),
  v.check((given) => !given.includes("\0"), "The address has a character that no address may have."),
);
const box = v.optional(v.picklist(["on"], "A box is on, or left out."));
const question = v.pipe(
  v.object({ address: v.optional(address, ""), lifted: box, full: box }),
  v.transform(({ address: given, lifted, full }) => ({
    ...{ address: given, lifted: lifted === "on", full: full === "on" },
  })),
);
type Question = v.InferOutput<typeof question>;

const lift = v.object({
  address: v.pipe(address, v.minLength(1, "Give the address.")),
  channel: v.pipe(
    v.string(),
    v.regex(/^[a-z][a-z0-9_]{0,31}$/, "The channel is a short word, such as email."),
  ),
});

/** Addresses that are not written to, and how one is written to again. */
export function suppressedPages(app: Hono, context: Context): void {
  app.get("/dead/suppressed", async (call) => {
    const asked = parse(question, call.req.query());
    const found = await listSuppressions(context.ledger, {
      address: asked.address || undefined,
      lifted: asked.lifted,
      limit: shown + 1,
    });
    const rows = found.slice(0, shown);
    return show(call, context, {
      place: "dead",
      title: "Suppressed addresses",
      body: html`${within(context, "suppressed")}
        <p>A message bounced there for good, or its recipient complained or wants no more: nothing is sent to these addresses.</p>
        ${search(asked)}
        ${rows.length === 0 ? html`<p class="lead">${nothing(asked)}</p>` : list(rows, asked)}
        ${more(found.length > shown ? null : 0)}
        ${context.writer ? lifts(context, rows, asked) : ""}`,
    });
  });
  action(app, context, "/dead/lift", async ({ act, form: fields, writer }) => {
    const which = parse(lift, { address: one(fields, "address"), channel: one(fields, "channel") });
    await liftSuppression(writer, which, act);
    const query = new URLSearchParams({ address: which.address, lifted: "on" });
    return {
      to: `/dead/suppressed?${query}`,
      said: `${mask(which.address)} is written to again by ${which.channel}, from the next notification on. ${liftAdvice(which.channel)}`,
    };
  });
}

const search = ({ address: given, lifted, full }: Question): Html => html`
  <form method="get" action="/dead/suppressed" class="ask" role="search">
    <label>Address, in full <input name="address" value="${given}" maxlength="1000"></label>
    <label class="beside"><input type="checkbox" name="lifted" ${lifted ? html`checked` : ""}> Lifted ones as well</label>
    <label class="beside"><input type="checkbox" name="full" ${full ? html`checked` : ""}> Show addresses in full</label>
    <button>Search</button>
  </form>`;

function nothing({ address: given, lifted }: Question): string {
  if (given === "") return `No address is ${lifted ? "or was " : ""}suppressed.`;
  return `This address ${lifted ? "never was" : "is not"} suppressed.`;
}

const list = (rows: readonly Suppression[], { full }: Question): Html =>
  table(
    "Suppressed, the newest first",
    [
      { name: "Since", cell: ({ suppressedAt }) => time(suppressedAt) },
      { name: "Channel", cell: ({ channel }) => channel },
      { name: "Address", cell: (row) => (full ? linked(row.address) : mask(row.address)) },
      { name: "Cause", cell: ({ cause }) => causes[cause] },
      { name: "The provider said", cell: ({ detail }) => detail },
      { name: "Notification", cell: ({ notificationId: id }) => (id === null ? null : notification(id)) },
      {
        name: "Lifted",
        cell: ({ lifted }) => lifted && html`${time(lifted.at)} by ${lifted.by}: ${lifted.why}`,
      },
    ],
    rows,
  );

const causes: Record<Suppression["cause"], string> = {
  bounced: "bounced",
  complained: "complained",
  opted_out: "opted out",
};

const linked = (of: string): Html =>
  html`<a href="/dead/suppressed?${new URLSearchParams({ address: of, full: "on" })}">${of}</a>`;

/** A form for each channel of an address that was searched for; the list of all has none, as it masks them. */
function lifts(context: Context, rows: readonly Suppression[], { address: given }: Question): Html {
  if (rows.length === 0) return html``;
  if (given === "") return html`<p>To write to one of them again, search for its address.</p>`;
  const suppressed = rows.filter(({ lifted }) => lifted === null);
  if (suppressed.length === 0) return html``;
  return html`<h2>Write to it again</h2>
    <p>What was cancelled meanwhile stays so; a dead notification can be redriven afterwards.</p>
    ${suppressed.map(
      ({ channel }) => html`<p>By ${channel}: ${liftAdvice(channel)}</p>
        ${form(context, "/dead/lift", {
          button: `Lift it for ${channel}`,
          fields: html`${hidden("address", given)}${hidden("channel", channel)}`,
          why: "the mailbox is there again, she called",
        })}`,
    )}`;
}
