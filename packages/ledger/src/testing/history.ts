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
  /** Until when its channel is closed, infinite when only a person opens it; null when nothing has closed it. */
  closed: number | null = null;
  readonly database: TestDatabase;
  readonly check: Check;
  readonly #started = performance.now();
  #passed = 0;

  constructor(database: TestDatabase, check: Check) {
    this.database = database;
    this.check = check;
  }

  /** Seconds since the history began: what it let pass, and what its steps really took, as the ledger has it. */
  get now(): number {
    return this.#passed + (performance.now() - this.#started) / 1000;
  }

  async begin(counters: Counters): Promise<void> {
    this.rows.push(...(await owe(this.database, counters)));
    const { now } = this;
    for (const [place, row] of this.rows.entries())
      row.dueAt = row.owedAt ??= now - (this.rows.length - place) / 1e6;
  }

  /** SQS's SentTimestamp of a message, in milliseconds. */
  sentAt(message: Published): number {
    return message.wall - this.#passed * 1000;
  }

  get isClosed(): boolean {
    return this.closed !== null && this.closed > this.now;
  }

  /** All rows to the recipient of one: they have one address. */
  sameRecipient(row: ModelRow): ModelRow[] {
    return [row, ...row.newer, ...this.rows.filter(({ newer }) => newer.includes(row))];
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
    return later.length > 0 ? Math.ceil(Math.min(...later) - this.now) + 1 : 0;
  }
}
