import type { Act, Ledger } from "@owed/ledger";
import type { Context as Call, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import * as v from "valibot";
import type { Context } from "../context.ts";
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

/**
 * Adds what a person may change: `POST path`, with the page's token and a reason (field `why`). `work` does it and returns
 * where to go from there, with a sentence for the notice; a page with the same address shows it.
 */
export function action(
  app: Hono,
  context: Context,
  path: string,
  work: (action: Action) => Promise<{ to: string; said: string }>,
): void {
  app.post(path, async (call) => {
    const form = await readForm(call);
    checkToken(call, form.token, context.token);
    if (!context.writer)
      throw new HTTPException(403, {
        message: "This console only looks: start it with --write to change something.",
      });
    const why = v.safeParse(reasonText, one(form, "why"));
    if (!why.success) throw new HTTPException(400, { message: why.issues[0].message });
    const act = { actor: context.actor, why: why.output };
    const { to, said } = await work({ act, form, writer: context.writer, call });
    return call.redirect(withNotice(to, said, context.token), 303);
  });
}

/** Adds what is tried out on the local stack: `POST path` with the page's token; elsewhere there is no such address. */
export function trial(
  app: Hono,
  context: Context,
  path: string,
  work: (sandbox: NonNullable<Context["sandbox"]>, form: Form) => Promise<{ to: string; said: string }>,
): void {
  const { sandbox } = context;
  if (!sandbox) return;
  app.post(path, async (call) => {
    const form = await readForm(call);
    checkToken(call, form.token, context.token);
    const { to, said } = await work(sandbox, form);
    return call.redirect(withNotice(to, said, context.token), 303);
  });
}

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

/** Adds what a form asks and changes nothing, such as a dry run: `POST path` with the page's token. */
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
