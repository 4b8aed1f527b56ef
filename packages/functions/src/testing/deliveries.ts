import type { Leased, Ledger } from "@owed/ledger";
import type { SQSRecord } from "aws-lambda";
import { vi } from "vitest";
import type { TestDatabase } from "../../../../tests/support/database.ts";
import { type Deliver, deliver } from "../deliver/deliver.ts";
import { Pace } from "../deliver/pace.ts";
import { parseSettings } from "../settings.ts";
import { type ScriptedChannel, scriptedChannel } from "./channel.ts";
import type { RecordOptions } from "./records.ts";
import { messageFor } from "./rows.ts";

type Options = Partial<Omit<Deliver, "ledger" | "channels" | "settings">> & {
  channel?: ScriptedChannel;
  settings?: unknown;
};

/** Hands a batch to a worker; tells what it said of each message, in their order. */
export async function handOver(ledger: Ledger, records: SQSRecord[], options: Options = {}) {
  const { channel = scriptedChannel(), settings = {}, ...more } = options;
  const onError = vi.fn();
  const { disposals, counts } = await deliver(
    {
      ledger,
      channels: new Map([[channel.name, channel]]),
      settings: parseSettings(settings),
      pace: new Pace({ workers: 1 }),
      remaining: () => 30,
      onError,
      ...more,
    },
    records,
  );
  return { channel, counts, onError, disposals: records.map((record) => disposals.get(record)) };
}

/** The same with the messages of these rows. */
export const give = (
  { ledger }: Pick<TestDatabase, "ledger">,
  rows: readonly Leased[],
  { message, ...options }: Options & { message?: RecordOptions } = {},
) =>
  handOver(
    ledger,
    rows.map((row) => messageFor(row, message)),
    options,
  );
