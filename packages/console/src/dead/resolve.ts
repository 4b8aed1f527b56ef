import { mootText } from "@owed/cli/text/moot";
import {
  type Act,
  type Ledger,
  NotAllowed,
  NotificationNotFound,
  replay,
  resolveAsSent,
  show,
} from "@owed/ledger";
import type { Hono } from "hono";
import * as v from "valibot";
import type { Context } from "../context.ts";
import { action, one } from "../guard/act.ts";
import { parse, parseIds } from "./choice.ts";
import { plural } from "./parts.ts";
import type { Left } from "./runs.ts";

const way = v.picklist(["sent", "resend"], "Say what became of the chosen: sent, or to be sent again.");

type Resolved = { done: string[]; left: Left[] };

/** Reasons that a notice has room for. */
const told = 3;

/** A person says what became of notifications of unknown outcome. */
export function resolveAction(app: Hono, context: Context): void {
  action(app, context, "/dead/resolve", async ({ act, form, writer }) => {
    const as = parse(way, one(form, "as"));
    const ids = parseIds(form);
    const { done, left } = await (as === "sent" ? asSent : resend)(writer, ids, act);
    const did = as === "sent" ? "resolved as sent" : "owed again, and counted as possible duplicates";
    const rest = left.slice(told).length;
    const said = [
      `${plural(done.length, "notification")} ${did}.`,
      ...left.slice(0, told).map(({ id, why }) => `Not ${id}: ${why}.`),
      ...(rest > 0 ? [`Nor ${rest} more: somebody was faster, or they are no longer true.`] : []),
    ].join(" ");
    return { to: "/dead/unknown", said };
  });
}

async function asSent(ledger: Ledger, ids: readonly string[], act: Act): Promise<Resolved> {
  const resolved: Resolved = { done: [], left: [] };
  for (const id of ids)
    try {
      await resolveAsSent(ledger, id, act);
      resolved.done.push(id);
    } catch (error) {
      if (!(error instanceof NotAllowed || error instanceof NotificationNotFound)) throw error;
      resolved.left.push({ id, why: error.message });
    }
  return resolved;
}

async function resend(ledger: Ledger, ids: readonly string[], act: Act): Promise<Resolved> {
  const { ids: done, moot } = await replay(ledger, ids, act, "replayed");
  const again = new Set(done);
  const left = ids.filter((id) => !again.has(id));
  return {
    done,
    left: await Promise.all(left.map(async (id) => ({ id, why: await whyNot(ledger, id, moot.get(id)) }))),
  };
}

async function whyNot(ledger: Ledger, id: string, untrue: string | undefined): Promise<string> {
  if (untrue !== undefined) return mootText(untrue);
  try {
    const { state } = await show(ledger, id);
    return `somebody was faster: it is ${state}`;
  } catch (error) {
    if (error instanceof NotificationNotFound) return "there is no such notification";
    throw error;
  }
}
