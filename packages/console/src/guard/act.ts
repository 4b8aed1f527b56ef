import type { Act, Ledger } from "@owed/ledger";
import type { Context as Call, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import * as v from "valibot";
import type { Context, Sandbox } from "../context.ts";
import { checkToken } from "./guard.ts";
import { withNotice } from "./notice.ts";

const reasonText = v.pipe(
  v.string(),
  v.trim(),
  v.minLength(1, "Say why: the ledger keeps it."),
  v.maxLength(500, "A reason has 500 characters at most."),
  v.regex(/^\P{Cc}*$/u, "A reason is one line of text, without control characters."),
);

/** A form's values, as the browser sent them: several of a name as a list. */
export type Form = Record<string, string | string[]>;

/** What an action gets: who acts and why, on what, and where it may write. */
export type Action = { act: Act; form: Form; writer: Ledger; call: Call };

/** Adds what a form asks: `POST path` with the page's token. By itself it changes nothing, such as a dry run. */
export function question(
  app: Hono,
  context: Context,
  path: string,
  answer: (call: Call, form: Form) => Response | Promise<Response>,
): void {
  app.post(path, async (call) => {
    const form = await readForm(call);
    checkToken(call, form.token, context.token);
    return answer(call, form);
  });
}

/** Where to go from what was done, and a sentence for the notice there. */
type Done = { to: string; said: string };

/**
 * Adds what a person may change: a question with a reason (field `why`). `work` does it; a page with the address that it
 * returns shows the notice.
 */
export function action(
  app: Hono,
  context: Context,
  path: string,
  work: (action: Action) => Promise<Done>,
): void {
  question(app, context, path, async (call, form) => {
    if (!context.writer)
      throw new HTTPException(403, {
        message: "This console only looks: start it with --write to change something.",
      });
    const why = v.safeParse(reasonText, one(form, "why"));
    if (!why.success) throw new HTTPException(400, { message: why.issues[0].message });
    const act = { actor: context.actor, why: why.output };
    return told(call, context, await work({ act, form, writer: context.writer, call }));
  });
}

/** Adds what is tried out on the local stack, without a reason; elsewhere there is no such address. */
export function trial(
  app: Hono,
  context: Context,
  path: string,
  work: (sandbox: Sandbox, form: Form) => Promise<Done>,
): void {
  const { sandbox } = context;
  if (!sandbox) return;
  question(app, context, path, async (call, form) => told(call, context, await work(sandbox, form)));
}

const told = (call: Call, { token }: Context, { to, said }: Done): Response =>
  call.redirect(withNotice(to, said, token), 303);

const readForm = async (call: Call): Promise<Form> => {
  const body = await call.req.parseBody({ all: true }).catch((cause: unknown) => {
    throw new HTTPException(400, { message: "This is no form that a browser sends.", cause });
  });
  // A file is none of these fields' values.
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, Array.isArray(value) ? value.map(text) : text(value)]),
  );
};

/** One value of a form's field; empty where there is none. */
export const one = (form: Form, name: string): string => {
  const value = form[name];
  return Array.isArray(value) ? (value[0] ?? "") : (value ?? "");
};

/** All values of a form's field. */
export const all = (form: Form, name: string): string[] => {
  const value = form[name];
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
};
