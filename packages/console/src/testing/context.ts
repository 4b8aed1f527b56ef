import { parseSettings } from "@owed/functions/settings";
import { Ledger } from "@owed/ledger";
import type { Hono } from "hono";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { createQueues, QUEUES } from "../../../local/src/sqs/index.ts";
import { startTestSqs, type TestSqs } from "../../../local/src/sqs/testing.ts";
import { createApp } from "../app.ts";
import type { Context, Sandbox } from "../context.ts";

/** The token of every test's pages. */
const token = "the-token-of-this-start";

/** Where tests ask: any port of this machine. */
export const origin = "http://127.0.0.1:54320";

export type Desk = {
  db: TestDatabase;
  sqs: TestSqs;
  queues: Awaited<ReturnType<typeof createQueues<keyof typeof QUEUES>>>;
  context: Context;
  app: Hono;
  end(): Promise<void>;
};

export type DeskOptions = {
  /** Without --write. */
  readOnly?: boolean;
  sandbox?: Sandbox;
};

/** The console on a ledger and queues of a test's own, with the roles that it has on a deployed stage. */
export async function createDesk({ readOnly = false, sandbox }: DeskOptions = {}): Promise<Desk> {
  const db = await createDatabase();
  const sqs = await startTestSqs();
  const queues = await createQueues(sqs.client, QUEUES);
  const connect = (role: string) =>
    new Ledger({ ...db.options, applicationName: "owed-console", role, plans: "auto" });
  const ledger = connect("owed_reader");
  const writer = readOnly ? null : connect("owed_operator");
  const context: Context = {
    ledger,
    writer,
    services: {
      sqs: async () => sqs.client,
      queue: (name) => queues[name],
      settings: async () => parseSettings({}),
      webhookKey: async () => `whsec_${Buffer.alloc(32).toString("base64")}`,
    },
    actor: "ada",
    stage: "test",
    sandbox: sandbox ?? null,
    token,
  };
  return {
    ...{ db, sqs, queues, context },
    app: createApp(context),
    async end() {
      await ledger.close();
      await writer?.close();
      await sqs.stop();
      await db.drop();
    },
  };
}

/** What a page answered. */
export type Got = { status: number; text: string; headers: Headers };

const got = async (answer: Response): Promise<Got> => ({
  status: answer.status,
  text: await answer.text(),
  headers: answer.headers,
});

/** Asks for a page. */
export const get = async (app: Hono, path: string, headers: Record<string, string> = {}): Promise<Got> =>
  got(await app.request(`${origin}${path}`, { headers: { host: new URL(origin).host, ...headers } }));

/** Sends a form as the browser does, with the page's token, unless the fields have another (null: none). */
export async function post(
  app: Hono,
  path: string,
  fields: Record<string, string | readonly string[] | null> = {},
  headers: Record<string, string> = {},
): Promise<Got & { to: string; said: string }> {
  const body = new URLSearchParams();
  for (const [name, value] of Object.entries({ token, ...fields }))
    if (value !== null) for (const one of [value].flat()) body.append(name, one);
  const answer = await app.request(`${origin}${path}`, {
    method: "POST",
    body,
    headers: {
      host: new URL(origin).host,
      origin,
      "content-type": "application/x-www-form-urlencoded",
      ...headers,
    },
  });
  const to = answer.headers.get("location") ?? "";
  return { ...(await got(answer)), to, said: new URL(to, origin).searchParams.get("said") ?? "" };
}
