import { LedgerUnavailable, NotAllowed, NotificationNotFound, Refused } from "@owed/ledger";
import type { Context as Call } from "hono";
import { html } from "hono/html";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Context } from "./context.ts";
import { type Place, places, show } from "./page/page.ts";

/** What could not be done, as a page that says why and the way back. Nothing of an unforeseen error but its message is shown. */
export function failed(error: Error, call: Call, context: Context) {
  const status = statusOf(error);
  if (status === 500) console.error(error);
  call.status(status);
  return show(call, context, {
    place: placeOf(call.req.path),
    title: "That did not work",
    body: html`<p role="alert">${error.message || sentElsewhere}</p><p><a href="/">To what is owed now</a></p>`,
  });
}

export function missing(call: Call, context: Context) {
  call.status(404);
  return show(call, context, {
    place: placeOf(call.req.path),
    title: "There is no such page",
    body: html`<p>Nothing is at ${call.req.path}.</p><p><a href="/">To what is owed now</a></p>`,
  });
}

/** What hono's own guard refuses comes without a word. */
const sentElsewhere =
  "This was sent from another page than the console's own: open the console itself, and do it there.";

const statusOf = (error: Error): ContentfulStatusCode => {
  if (error instanceof HTTPException) return error.status;
  if (error instanceof NotificationNotFound) return 404;
  if (error instanceof NotAllowed || error instanceof Refused) return 409;
  if (error instanceof LedgerUnavailable) return 503;
  return 500;
};

/** Where the navigation stands: at the page whose address it begins with. */
const placeOf = (path: string): Place =>
  (Object.keys(places) as Place[]).find((place) => place !== "now" && path.startsWith(places[place].path)) ??
  "now";
