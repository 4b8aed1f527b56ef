import { pause, resume } from "@owed/ledger";
import type { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import type { Context } from "../context.ts";
import { one, trial } from "../guard/act.ts";

/** How many events may happen at once. */
export const bursts = [1, 20, 200] as const;

const why = "tried in the console";

/** What can be tried on the local stack. */
export function sandboxPages(app: Hono, context: Context): void {
  const { writer, actor } = context;
  if (!writer) return;
  const to = "/";
  trial(app, context, "/try/pause", async () => {
    await pause(writer, actor, why);
    return { to, said: "The sweeps are paused: let events happen, and see them wait." };
  });
  trial(app, context, "/try/resume", async (sandbox) => {
    await resume(writer, { actor, why });
    await sandbox.sweep();
    return { to, said: "The sweeps run again, and one has begun to drain." };
  });
  trial(app, context, "/try/happen", async (sandbox, form) => {
    const events = bursts.find((count) => String(count) === one(form, "events"));
    if (!events)
      throw new HTTPException(400, {
        message: `${bursts.join(", ")} events can happen, and no other number.`,
      });
    await sandbox.happen(events);
    return { to, said: events === 1 ? "An event has happened." : `${events} events have happened.` };
  });
  trial(app, context, "/try/provider/stop", async (sandbox) => {
    sandbox.provider.stop();
    return {
      to,
      said: "The providers are down: sends fail, and the channels close until they answer again.",
    };
  });
  trial(app, context, "/try/provider/start", async (sandbox) => {
    sandbox.provider.start();
    return { to, said: "The providers work again: the next sweeps probe them, and the channels open." };
  });
  trial(app, context, "/try/purge", async (sandbox) => {
    await sandbox.purgeQueue();
    return {
      to,
      said: "The notification queue is empty: what was in it is found missing, and published again.",
    };
  });
}
