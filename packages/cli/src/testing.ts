import { parseSettings } from "@owed/functions/settings";
import { claim, defaultDurations, Ledger, record } from "@owed/ledger";
import { createDatabase, type TestDatabase } from "../../../tests/support/database.ts";
import { createQueues, QUEUES } from "../../local/src/sqs/index.ts";
import { startTestSqs, type TestSqs } from "../../local/src/sqs/testing.ts";
import { main } from "./main.ts";
import { type Kind, ledgerUsers, type Services } from "./services.ts";

/** What one command line printed, and its exit code. */
export type Printed = { code: number; out: string; err: string };

/** Runs a command line on given services. */
export async function runCli(
  argv: readonly string[],
  open?: (kind: Kind) => Promise<Services>,
): Promise<Printed> {
  const printed = { out: "", err: "" };
  const streams = {
    out: (text: string) => {
      printed.out += text;
    },
    err: (text: string) => {
      printed.err += text;
    },
  };
  const code = await main(argv, streams, open);
  return { code, ...printed };
}

export type World = {
  db: TestDatabase;
  sqs: TestSqs;
  queues: Awaited<ReturnType<typeof createQueues<keyof typeof QUEUES>>>;
  owed(...argv: string[]): Promise<Printed>;
  /** The one object that the command printed with `--json`; fails on anything else. */
  json(...argv: string[]): Promise<{ code: number; value: Record<string, unknown> }>;
  end(): Promise<void>;
};

/** A ledger and queues of a test's own, and the command line on them. */
export async function createWorld(): Promise<World> {
  const db = await createDatabase();
  const sqs = await startTestSqs();
  const queues = await createQueues(sqs.client, QUEUES);
  const open = async (kind: Kind): Promise<Services> => {
    const ledger = new Ledger({
      ...db.options,
      applicationName: "owed-cli",
      role: `owed_${ledgerUsers[kind]}`,
    });
    return {
      ledger,
      hint: "the test says where it is",
      sqs: async () => sqs.client,
      queue: (name) => queues[name],
      settings: async () => parseSettings({}),
      webhookKey: async () => `whsec_${Buffer.alloc(32).toString("base64")}`,
      close: () => ledger.close(),
    };
  };
  return {
    db,
    sqs,
    queues,
    owed: (...argv) => runCli(argv, open),
    async json(...argv) {
      const { code, out } = await runCli([...argv, "--json"], open);
      const value: unknown = JSON.parse(out);
      if (typeof value !== "object" || value === null) throw new Error(`not an object: ${out}`);
      return { code, value: { ...value } };
    },
    async end() {
      await sqs.stop();
      await db.drop();
    },
  };
}

/** The ids of a shipment's notifications, in the order in which they were owed. */
export async function idsOf({ db }: Pick<World, "db">, shipment: string): Promise<string[]> {
  const rows = await db.sql<{ id: string }[]>`
    SELECT n.id FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
    WHERE e.shipment_id = ${shipment} ORDER BY n.id`;
  return rows.map(({ id }) => id);
}

type Fate = Parameters<typeof record>[2][number]["outcome"];

/** Lets a worker claim a row and record what became of it. */
export async function deliverAs({ db }: Pick<World, "db">, id: string, outcome: Fate): Promise<void> {
  const [row] = await db.sql<
    { generation: number }[]
  >`SELECT generation FROM owed.notification WHERE id = ${id}`;
  const message = { id, generation: row?.generation ?? 0, messageId: `m-${id}`, sentAt: Date.now() };
  const [verdict] = await claim(db.ledger, defaultDurations, [message]);
  if (verdict?.verdict !== "claimed") throw new Error(`not claimed: ${verdict?.verdict}`);
  const lost = await record(db.ledger, defaultDurations, [{ id, token: verdict.token, outcome }]);
  if (lost.size > 0) throw new Error("the outcome was fenced off");
}
