import { owe } from "@owed/cli/commands/replay";
import { cancel, type History, resolveAsSent, sendAgain } from "@owed/ledger";
import type { Hono } from "hono";
import { html } from "hono/html";
import type { Context } from "../context.ts";
import { type Action, action } from "../guard/act.ts";
import type { Html } from "../page/page.ts";
import { form } from "../page/parts.ts";
import { notificationPath, readId } from "./id.ts";

type Row = Pick<History, "id" | "state" | "owedAt">;

/** What a person may do with a notification, by its path's end. */
const acts: Record<
  string,
  {
    allowed: (row: Row) => boolean;
    /** What it does, for whoever decides. */
    means: string;
    button: string;
    /** A reason, for example. */
    why: string;
    danger?: true;
    work: (id: string, action: Action) => Promise<{ id: string; said: string }>;
  }
> = {
  replay: {
    allowed: ({ state }) => state === "dead",
    means: "The next sweep publishes it, if it is still true. Its counters start anew.",
    button: "Owe it again",
    why: "the address was corrected",
    work: async (id, { writer, act }) => {
      await owe(writer, id, act);
      return { id, said: "It is owed again: the next sweep publishes it." };
    },
  },
  resend: {
    allowed: ({ state }) => state === "unknown",
    means:
      "Nobody knows whether it was sent: if it was, the recipient gets it twice. It is counted as a possible duplicate.",
    button: "Resolve: send it again",
    why: "not in the provider's log",
    danger: true,
    work: async (id, { writer, act }) => {
      await owe(writer, id, act);
      return { id, said: "It is owed again, as a possible duplicate: the next sweep publishes it." };
    },
  },
  sent: {
    allowed: ({ state }) => state === "unknown" || state === "dead",
    means: "It counts as delivered, on your word and for the reason that you give.",
    button: "Resolve: it was sent",
    why: "the buyer forwarded it to us",
    work: async (id, { writer, act }) => {
      await resolveAsSent(writer, id, act);
      return { id, said: "It is delivered, on your evidence." };
    },
  },
  again: {
    allowed: ({ state }) => state === "delivered",
    means: "A delivered one is never replayed: a new notification is owed that names this one.",
    button: "Send its content once more",
    why: "the buyer deleted it and asks for it",
    work: async (id, { writer, act }) => ({
      id: await sendAgain(writer, id, act),
      said: "This is the new notification: the next sweep publishes it.",
    }),
  },
  cancel: {
    allowed: ({ state, owedAt }) =>
      ["pending", "leased", "queued", "dead"].includes(state) || (state === "unknown" && owedAt === null),
    means: "It is no longer wanted, and will not be sent. This can't be undone.",
    button: "Cancel it",
    why: "the order was withdrawn",
    danger: true,
    work: async (id, { writer, act }) => {
      await cancel(writer, id, act);
      return { id, said: "It is cancelled: it will not be sent." };
    },
  },
};

export function notificationActions(app: Hono, context: Context): void {
  for (const [name, { work }] of Object.entries(acts))
    action(app, context, `/notified/:id/${name}`, async (given) => {
      const { id, said } = await work(readId(given.call), given);
      return { to: notificationPath(id), said };
    });
}

/** The forms for what the notification's state allows. */
export function actions(context: Context, row: Row): Html {
  const open = Object.entries(acts).filter(([, { allowed }]) => allowed(row));
  if (!context.writer)
    return html`<p class="noprint">This console only looks: start it with <code>--write</code> to change something.</p>`;
  return html`<section class="acts noprint">
    <h2>What you can do</h2>
    ${open.length === 0 ? html`<p>Nothing: in this state the ledger needs no help.</p>` : ""}
    ${open.map(
      ([name, { button, means, why, danger = false }]) => html`<h3>${button}</h3>
    <p>${means}</p>
    ${form(context, `${notificationPath(row.id)}/${name}`, { button, why, danger })}`,
    )}
  </section>`;
}
