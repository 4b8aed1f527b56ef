import type { TestDatabase } from "../../../../tests/support/database.ts";
import { passTime } from "../../../../tests/support/time.ts";
import type { Leased } from "../sweep/lease.ts";
import type { ClaimNote, ModelMessage } from "./model.ts";
import type { ModelRow } from "./model-row.ts";
import { type Counters, owe } from "./setting.ts";

export type Held = { row: ModelRow; token: number };
/** `wall`: when it was sent by the wall's clock, as if the time that passed since had not been skipped. */
export type Published = ModelMessage & { wall: number };
type Check = (ledger: unknown, model: unknown, what: string) => void;

/** Of what there is, the one that came as many places before the newest; none when there is nothing. */
export function pick<T>(list: readonly T[], back: number): T[] {
  const place = list.length - 1 - (back % list.length);
  return list.slice(place, place + 1);
}

/** One history of the ledger and the model side by side. `check` compares what each step answered. */
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
      this.tick();
      this.rows.push(row);
      if (row.owedAt === 0) row.owedAt = this.now;
    }
  }

  tick(): void {
    this.#ticks += 1;
  }

  /** SQS's SentTimestamp of a message, in milliseconds. */
  sentAt(message: Published): number {
    return message.wall - this.#passed * 1000;
  }

  /** Puts a message about a row into the queue. */
  send(row: ModelRow, generation: number): void {
    // SQS stamps whole milliseconds: no other step may fall into this one.
    for (const start = Date.now(); Date.now() < start + 2; );
    const wall = Date.now() + this.#passed * 1000;
    for (const start = Date.now(); Date.now() < start + 2; );
    this.messages.push({ row, generation, messageId: `M-${this.messages.length}`, sentAt: this.now, wall });
  }

  async pass(seconds: number): Promise<void> {
    await passTime(this.database.sql, seconds);
    this.#passed += seconds;
  }

  /** Seconds until the next row is due. */
  untilDue(): number {
    const later = this.rows.flatMap(({ owedAt }) => (owedAt !== null && owedAt > this.now ? [owedAt] : []));
    return later.length > 0 ? Math.ceil(Math.min(...later) - this.now) : 0;
  }
}
