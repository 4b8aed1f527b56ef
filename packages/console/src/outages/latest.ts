import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "@owed/cli/errors";
import type { Proven } from "@owed/cli/report/find";
import { printable } from "@owed/cli/text/printable";
import { duration } from "@owed/cli/text/time";
import { plural } from "@owed/cli/text/words";
import { html } from "hono/html";
import type { Context } from "../context.ts";
import type { Html } from "../page/page.ts";
import { time } from "../page/parts.ts";
import { titleOf } from "./parts.ts";
import { addressOf } from "./query.ts";
import { isUnsettled, readOutages, restOf } from "./read.ts";

/** How far back "latest" reaches: milliseconds. */
const reach = 2 * 3_600_000;

/** Milliseconds that a page waits for the answer, before it shows the one before. */
const patience = 500;

type Kept = { newest: Promise<Proven | null>; until: number };
const kept = new WeakMap<Context, Kept>();
const shown = new WeakMap<Context, Html>();

/**
 * The newest outage of the last two hours, in a paragraph: how long it was, how many were late, whether anything of it is
 * still owed. Many may ask at once and often: the ledger is asked by one of them, and for a fifth of the time at most.
 */
export async function latestOutage(context: Context): Promise<Html> {
  const before = shown.get(context) ?? html`<p>It is being counted.</p>`;
  return Promise.race([read(context), sleep(patience, before, { ref: false })]);
}

/** Never rejects: the rest of a page tells whether the ledger answers. */
async function read(context: Context): Promise<Html> {
  try {
    const newest = await ask(context);
    const told = newest ? paragraph(newest) : html`<p>No outage in the last two hours.</p>`;
    shown.set(context, told);
    return told;
  } catch (error) {
    return html`<p class="warn">What became of it can't be told just now: ${printable(messageOf(error))}</p>`;
  }
}

function ask(context: Context): Promise<Proven | null> {
  const before = kept.get(context);
  if (before && before.until > performance.now()) return before.newest;
  const now: Kept = { newest: Promise.resolve(null), until: Number.POSITIVE_INFINITY };
  now.newest = readNewest(context, now);
  kept.set(context, now);
  return now.newest;
}

async function readNewest(context: Context, asked: Kept): Promise<Proven | null> {
  try {
    const since = new Date(Date.now() - reach).toISOString();
    const { outages, took } = await readOutages(context, { since, until: null, merchant: null, most: 1 });
    const [newest = null] = outages;
    // Nothing new is likely where all is done: an outage is known for one only after some beats.
    const least = newest && isUnsettled(newest) ? 1 : 10;
    asked.until = performance.now() + restOf(took, least) * 1000;
    return newest;
  } catch (error) {
    kept.delete(context);
    throw error;
  }
}

function paragraph(outage: Proven): Html {
  const { from, to, all, proof } = outage;
  const when = to ? html`, ${time(from)} to ${time(to)}` : html`: no sweep since ${time(from)}`;
  const late =
    all.lateByMinutes === 0
      ? ""
      : ` ${plural(all.lateByMinutes, "notification")} of it ${all.lateByMinutes === 1 ? "was" : "were"} sent more than a minute late, by ${duration(all.late.max ?? 0)} at most.`;
  return html`<p>${titleOf(outage)}${when}.${late} ${proof} <a href="${addressOf(from, null)}">The whole report</a></p>`;
}
