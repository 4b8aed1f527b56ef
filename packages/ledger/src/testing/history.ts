import type { TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import type { Leased } from "../sweep/lease.ts";
import { claimBatch, recordBatch, weighProof } from "./deliver-steps.ts";
import type { ClaimNote, ModelMessage, ModelRow } from "./model.ts";
import { cancelOne, optOut, replaySome, resolveOne } from "./operate-steps.ts";
import { type Counters, owe } from "./setting.ts";
import type { Step } from "./steps.ts";
import { leaseSlice, markSome, releaseOne } from "./sweep-steps.ts";

export type Held = { row: ModelRow; token: number };
/** `wall`: when it was sent by the wall's clock, as if the time that passed since had not been skipped. */
export type Published = ModelMessage & { wall: number };
type Check = (ledger: unknown, model: unknown, what: string) => void;

/** Of what there is, the one that came as many places before the newest; none when there is nothing. */
export function pick<T>(list: readonly T[], back: number): T[] {
  const place = list.length - 1 - (back % list.length);
  return list.slice(place, place + 1);
}

/** Runs one history against the ledger and the model side by side. `check` compares what each step answered. */
export class History {
  readonly rows: ModelRow[] = [];
  readonly leases: (Held & { leased: Leased })[] = [];
  readonly messages: Published[] = [];
  readonly claims: Held[] = [];
  readonly notes: ClaimNote[] = [];
  readonly database: TestDatabase;
  readonly check: Check;
  #passed = 0;
  #ticks = 0;

  constructor(database: TestDatabase, check: Check) {
    this.database = database;
    this.check = check;
  }

  /** Seconds since the history began. Each step is a little later than the one before, as in the ledger. */
  get now(): number {
    return this.#passed + this.#ticks * 1e-4;
  }

  async begin(counters: Counters): Promise<void> {
    for (const row of await owe(this.database, counters)) {
      this.#ticks += 1;
      this.rows.push(row);
      if (row.owedAt === 0) row.owedAt = this.now;
    }
  }

  async step(step: Step): Promise<void> {
    this.#ticks += 1;
    switch (step.do) {
      case "pass":
        return this.#pass(step.seconds ?? this.#untilDue());
      case "sweep": {
        const taken = await added(this.leases, () => this.step(step.slice));
        if (step.until !== "lease") for (const lease of taken) await this.step({ do: "publish", lease });
        if (step.until === "mark") await this.step({ do: "mark", leases: taken });
        return;
      }
      case "deliver": {
        const taken = await added(this.claims, () => this.step({ do: "claim", messages: step.messages }));
        return this.step({ ...step.record, claims: taken.slice(0, step.record.claims.length) });
      }
      case "publish":
        for (const { row, leased } of pick(this.leases, step.lease)) this.#send(row, leased.generation);
        return;
      case "redrive":
        for (const message of pick(this.messages, step.message)) this.#send(message.row, message.generation);
        return;
      case "lease":
        return leaseSlice(this, step);
      case "mark":
        return markSome(this, step);
      case "release":
        return releaseOne(this, step);
      case "claim":
        return claimBatch(this, step);
      case "record":
        return recordBatch(this, step);
      case "evidence":
        return weighProof(this, step);
      case "replay":
        return replaySome(this, step);
      case "resolve":
        return resolveOne(this, step);
      case "cancel":
        return cancelOne(this, step);
      case "optOut":
        return optOut(this, step);
    }
  }

  /** SQS's SentTimestamp of a message, in milliseconds. */
  sentAt(message: Published): number {
    return message.wall - this.#passed * 1000;
  }

  #send(row: ModelRow, generation: number): void {
    // SQS stamps whole milliseconds: no other step may fall into this one.
    for (const start = Date.now(); Date.now() < start + 2; );
    const wall = Date.now() + this.#passed * 1000;
    for (const start = Date.now(); Date.now() < start + 2; );
    this.messages.push({ row, generation, messageId: `M-${this.messages.length}`, sentAt: this.now, wall });
  }

  async #pass(seconds: number): Promise<void> {
    await passTime(this.database.sql, seconds);
    this.#passed += seconds;
  }

  #untilDue(): number {
    const later = this.rows.flatMap(({ owedAt }) => (owedAt !== null && owedAt > this.now ? [owedAt] : []));
    return later.length > 0 ? Math.ceil(Math.min(...later) - this.now) : 0;
  }
}

/** How many a step added to a list, as places before the newest. */
async function added(list: readonly unknown[], step: () => Promise<void>): Promise<number[]> {
  const before = list.length;
  await step();
  return [...Array(list.length - before).keys()];
}
