import { parseSettings } from "@owed/functions/settings";
import { Ledger, type Mode } from "@owed/ledger";
import type postgres from "postgres";
import { main } from "../../packages/cli/src/main.ts";
import { ledgerUsers } from "../../packages/cli/src/services.ts";
import { seededRandom } from "../../packages/local/src/random.ts";
import type { Cloud } from "../support/cloud.ts";
import { eventually } from "../support/eventually.ts";
import { OldSender } from "../support/old-sender.ts";
import { passTime } from "../support/time.ts";

export type Command = (...argv: string[]) => Promise<{ code: number; json: Record<string, unknown> }>;

/** The command line on a test's cloud. */
export const commandLine =
  (cloud: Cloud): Command =>
  async (...argv) => {
    let out = "";
    const streams = {
      out: (text: string) => {
        out += text;
      },
      err: () => {},
    };
    const code = await main([...argv, "--actor", "ann", "--json"], streams, async (kind) => {
      const ledger = new Ledger({ ...cloud.options, role: `owed_${ledgerUsers[kind]}` });
      return {
        ledger,
        hint: "the test says where it is",
        sqs: async () => cloud.client,
        queue: (name) => cloud.queues[name],
        webhookKey: async () => null,
        settings: async () => parseSettings({}),
        close: () => ledger.close(),
      };
    });
    return { code, json: Object(JSON.parse(out)) };
  };

const merchants = ["shop-1", "shop-2", "shop-3"] as const;
const way: readonly Mode[] = ["shadow", "owed", "old", "shadow", "owed"];
const statuses = ["customs_hold", "customs_released", "out_for_delivery", "delivery_exception", "delivered"];

/** What happened: the old sender, the events, and how often a cutover had to be run again. */
export type Played = { old: OldSender; events: string[]; again: number };

/**
 * Plays a rollout: shipments of three merchants change all the time, the old sender and Owed both run, and each merchant goes from
 * old to shadow, to owed, back, and over again, while all of it is on its way.
 */
export async function play(cloud: Cloud, seed: number, rounds: number): Promise<Played> {
  const random = seededRandom(seed);
  const chance = (probability: number) => random() < probability;
  const pick = <T>(from: readonly T[]): T => {
    const one = from[Math.floor(random() * from.length)];
    if (one === undefined) throw new Error("nothing to pick from");
    return one;
  };
  const owed = commandLine(cloud);
  const old = new OldSender(cloud.sql, chance);
  const played: Played = { old, events: [], again: 0 };
  const step = new Map<string, number>(merchants.map((merchant) => [merchant, 0]));
  await owed("cutover", "--new-merchants", "old", "--why", "the rollout begins");

  const shipments: { id: string; merchant: string }[] = [];
  for (const merchant of merchants)
    for (const number of [1, 2, 3]) {
      const id = `${merchant}-${number}`;
      shipments.push({ id, merchant });
      await cloud.sql`SELECT owed.register_shipment(${id}, ${merchant}, ${merchant}, ${`T-${id}`})`;
      await cloud.sql`SELECT owed.subscribe(${id}, 'buyer-1', 'buyer', 'email', ${`${id}@example.com`})`;
    }

  /** What the platform has told the old sender, and the ledger not yet. */
  let underWay: (() => Promise<unknown>)[] = [];
  const happen = async () => {
    const { id: shipment, merchant } = pick(shipments);
    const status = pick(statuses);
    const id = `E-${seed}-${played.events.length}`;
    played.events.push(id);
    const record = (sql: postgres.ISql = cloud.sql) =>
      sql`SELECT owed.record_event(${id}, ${shipment}, ${status}, clock_timestamp())`;
    const tell = () => old.hear({ id, merchant, shipment, status });
    const how = random();
    if (how < 0.2) underWay.push(record);
    // The platform's transaction goes on for a while, and the old sender is told before it commits.
    else if (how < 0.4)
      return cloud.sql.begin(async (transaction) => {
        await record(transaction);
        tell();
        for (let n = 0; n < 20; n += 1) await transaction`SELECT`;
      });
    else await record();
    tell();
  };
  const cutOver = async () => {
    const merchant = pick(merchants);
    const mode = way[step.get(merchant) ?? 0];
    if (mode === undefined) return;
    const { code } = await owed(
      "cutover",
      "--merchant",
      merchant,
      "--to",
      mode,
      "--past",
      "send",
      "--why",
      "as planned",
    );
    if (code === 0) step.set(merchant, (step.get(merchant) ?? 0) + 1);
    else played.again += 1;
  };

  for (let round = 0; round < rounds; round += 1) {
    const late = underWay;
    underWay = [];
    await Promise.all([
      (async () => {
        for (let n = 0; n < 4; n += 1) await happen();
      })(),
      ...late.map((record) => record()),
      old.tick(),
      old.tick(),
      cloud.sweep(),
      cutOver(),
    ]);
    await Promise.all([old.tick(), cloud.sweep(), cutOver()]);
    await quiet(cloud);
    const seconds = pick([30, 600, 1200, 5 * 3600, 20 * 3600]);
    await passTime(cloud.sql, seconds);
    old.passTime(seconds);
  }

  await Promise.all(underWay.map((record) => record()));
  await passTime(cloud.sql, 20 * 60);
  for (const merchant of merchants) {
    const { code, json } = await owed(
      "cutover",
      "--merchant",
      merchant,
      "--to",
      "owed",
      "--past",
      "send",
      "--why",
      "all",
    );
    if (code !== 0) throw new Error(`the last cutover of ${merchant} failed: ${JSON.stringify(json)}`);
  }
  for (const seconds of [0, 86_400, 60]) {
    await passTime(cloud.sql, seconds);
    old.passTime(seconds);
    await old.tick();
    await cloud.sweep();
    await quiet(cloud);
  }
  return played;
}

/** Nothing is in the queue or with a worker. */
const quiet = (cloud: Cloud): Promise<void> =>
  eventually(async () => {
    const [row] = await cloud.sql`
      SELECT count(*)::int AS busy FROM owed.notification WHERE state IN ('leased', 'queued', 'sending')`;
    if (row?.busy !== 0) throw new Error(`${row?.busy} rows are on their way`);
  });
