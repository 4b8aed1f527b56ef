import type { Ledger } from "@owed/ledger";
import type { SQSRecord } from "aws-lambda";
import { vi } from "vitest";
import { type Deliver, deliver } from "../deliver/deliver.ts";
import { parseSettings } from "../settings.ts";
import type { Disposal } from "../sqs-batch.ts";
import { type ScriptedChannel, scriptedChannel } from "./channel.ts";

type Options = Partial<Omit<Deliver, "ledger" | "channels" | "settings">> & {
  channel?: ScriptedChannel;
  settings?: unknown;
};

export const acknowledged: Disposal = { acknowledge: true };
export const comesAgainIn = (visibility: number | null): Disposal => ({ acknowledge: false, visibility });

/** Hands a batch to a worker; tells what it said of each message, in their order. */
export async function handOver(ledger: Ledger, records: SQSRecord[], options: Options = {}) {
  const { channel = scriptedChannel(), settings = {}, ...more } = options;
  const onError = vi.fn();
  const { disposals, counts } = await deliver(
    {
      ledger,
      channels: new Map([[channel.name, channel]]),
      settings: parseSettings(settings),
      remaining: () => 30,
      onError,
      ...more,
    },
    records,
  );
  return { channel, counts, onError, disposals: records.map((record) => disposals.get(record)) };
}
