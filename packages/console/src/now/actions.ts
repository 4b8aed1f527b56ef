import { closeChannel, openChannel, pause, resume } from "@owed/ledger";
import type { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import type { Context } from "../context.ts";
import { action, type Form, one } from "../guard/act.ts";

/** A channel's name, as the form has it. */
function channelOf(form: Form): string {
  const name = one(form, "channel");
  if (!/^[a-z0-9_-]{1,50}$/.test(name))
    throw new HTTPException(400, { message: "Choose a channel by its name, such as email." });
  return name;
}

/** What an operator may do here: as `owed pause`, `resume`, `close` and `open`. */
export function nowActions(app: Hono, context: Context): void {
  action(app, context, "/sweeps/pause", async ({ writer, act }) => {
    const changed = await pause(writer, act.actor, act.why);
    return {
      to: "/",
      said: changed
        ? "The sweeps are paused. What falls due waits in the ledger."
        : "The sweeps were paused already: nothing was done.",
    };
  });
  action(app, context, "/sweeps/resume", async ({ writer, act }) => {
    const changed = await resume(writer, act);
    return {
      to: "/",
      said: changed
        ? `The sweeps run again: the next one begins to drain (${act.actor}: ${act.why}).`
        : "The sweeps were not paused: nothing was done.",
    };
  });
  action(app, context, "/channels/close", async ({ writer, act, form }) => {
    const channel = channelOf(form);
    const changed = await closeChannel(writer, channel, act);
    return {
      to: "/",
      said: changed
        ? `The channel ${channel} is closed. What falls due waits in the ledger.`
        : `The channel ${channel} was closed by somebody already: nothing was done.`,
    };
  });
  action(app, context, "/channels/open", async ({ writer, act, form }) => {
    const channel = channelOf(form);
    const changed = await openChannel(writer, channel, act);
    return {
      to: "/",
      said: changed
        ? `The channel ${channel} is open: the next sweep publishes what it may (${act.actor}: ${act.why}).`
        : `The channel ${channel} was open: its failures are forgotten.`,
    };
  });
}
