import { type History, listStopped, NotificationNotFound, type Stopped, show as showOne } from "@owed/ledger";
import type { Hono } from "hono";
import { html } from "hono/html";
import type { Context } from "../context.ts";
import { type Html, show } from "../page/page.ts";
import { reasonField, table, time } from "../page/parts.ts";
import { parseFilter, wordsOf } from "./choice.ts";
import { choosing, more, narrow, plural, shown, stoppedColumns, within } from "./parts.ts";
import { resolveAction } from "./resolve.ts";

type Row = Stopped & { history: History | null };

/** Notifications whose outcome nobody knows, and that a person must decide. */
export function unknownPages(app: Hono, context: Context): void {
  app.get("/dead/unknown", async (call) => {
    const filter = parseFilter(call.req.query());
    const { channel, reason, shipment } = filter;
    const found = await listStopped(context.ledger, {
      ...{ state: "unknown", channel, reason, shipmentId: shipment, limit: shown + 1 },
    });
    const rows = await Promise.all(
      found.slice(0, shown).map(async (row) => ({ ...row, history: await historyOf(context, row.id) })),
    );
    const some =
      found.length > shown
        ? `More than ${shown} notifications wait`
        : plural(rows.length, "notification waits", "notifications wait");
    return show(call, context, {
      place: "dead",
      title: "Unknown outcomes",
      body: html`${within(context, "unknown")}
        <p class="lead">${rows.length === 0 ? "No notification waits" : some} ${wordsOf(filter)} for somebody to say whether it was sent.</p>
        ${narrow("/dead/unknown", filter)}
        <p>Each was handed to its provider, and no answer came; or its worker vanished. Look for it at the provider, or ask the recipient.</p>
        ${rows.length === 0 ? "" : choosing(context, "/dead/resolve", list(context, rows), decision)}
        ${more(found.length > shown ? null : 0)}`,
    });
  });
  resolveAction(app, context);
}

/** It may have been erased since it was listed. */
const historyOf = ({ ledger }: Context, id: string): Promise<History | null> =>
  showOne(ledger, id).catch((error: unknown) => {
    if (error instanceof NotificationNotFound) return null;
    throw error;
  });

const list = (context: Context, rows: readonly Row[]): Html =>
  table(
    "Held for a person, the longest held first",
    [
      ...stoppedColumns(context, "Held since"),
      { name: "Last try", cell: ({ history }) => time(history?.claimedAt ?? null) },
      { name: "Evidence", cell: evidence },
      { name: "Reason", cell: ({ reason }) => reason },
    ],
    rows,
  );

function evidence({ history }: Row): string {
  if (!history) return "none";
  const { provider, providerMessageId, resends } = history;
  const resent = resends === 0 ? "" : `; sent again ${plural(resends, "time")} already`;
  if (providerMessageId === null) return `none${resent}`;
  return `${provider ?? "the provider"}'s message ${providerMessageId}${resent}`;
}

const decision = html`<fieldset>
    <legend>What became of the chosen</legend>
    <label class="beside"><input type="radio" name="as" value="sent" required> It was sent: delivered, on your evidence</label>
    <label class="beside"><input type="radio" name="as" value="resend" required> It was not: owe it again, counted as a possible duplicate</label>
  </fieldset>
  ${reasonField("the recipient has it")}
  <button>Resolve</button>`;
