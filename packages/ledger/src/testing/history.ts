import { randomUUID } from "node:crypto";
import type { TestDatabase } from "../../../../tests/support/database.ts";
import { registerShipment } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { NotAllowed } from "../connect/errors.ts";
import { claim } from "../deliver/claim.ts";
import { type Outcome as DeliveryOutcome, record } from "../deliver/record.ts";
import { recordEvidence } from "../deliver/record-evidence.ts";
import { defaultDurations as durations } from "../durations.ts";
import { cancel } from "../operate/cancel.ts";
import { replay } from "../operate/replay.ts";
import { resolveAsSent } from "../operate/resolve-as-sent.ts";
import type { Outcome } from "../states.ts";
import { type Leased, lease } from "../sweep/lease.ts";
import { markQueued } from "../sweep/mark-queued.ts";
import { release } from "../sweep/release.ts";
import * as model from "./model.ts";
import { empty } from "./rows.ts";

/** One step of a history. Numbers pick among what there is, from the newest on, modulo how much there is. */
export type Step =
  /** A sweep's slice as a whole, or killed after its publish, or before it. */
  | { do: "sweep"; slice: Step & { do: "lease" }; until: "mark" | "publish" | "lease" }
  /** A worker's batch: the outcomes of some, or of none when it is killed after the claim. */
  | { do: "deliver"; messages: number[]; record: Step & { do: "record" } }
  | { do: "lease"; limit: number; queued: "lost" | "look" | "skip"; unknown: "look" | "skip" }
  | { do: "publish"; lease: number }
  | { do: "mark"; leases: number[] }
  | { do: "release"; lease: number; wait: number }
  | { do: "redrive"; message: number }
  | { do: "claim"; messages: number[] }
  | { do: "record"; claims: number[]; outcomes: model.ModelOutcome[]; wait: number; reply: number }
  | { do: "evidence"; row: number; reply: number; outcome: Exclude<Outcome, "none">; ago: number | null }
  /** Until the next row is due, or for so many seconds. */
  | { do: "pass"; seconds: number | null }
  | { do: "replay"; rows: number[]; kind: "replayed" | "redriven" }
  | { do: "resolve"; row: number }
  | { do: "cancel"; row: number }
  | { do: "optOut"; row: number };

type Held = { row: model.ModelRow; token: number };
type Published = model.ModelMessage & { wall: number };

const act = { actor: "somebody", why: "to see" };
const distinct = <T extends { row: unknown }>(items: readonly T[]) => [
  ...new Map(items.map((item) => [item.row, item])).values(),
];
const pick = <T>(list: readonly T[], at: number): T[] =>
  list.length > 0 ? [list[at % list.length] as T] : [];

/** Runs one history against the ledger and the model side by side. `check` compares what each step answered. */
export class Run {
  readonly rows: model.ModelRow[] = [];
  readonly #database: TestDatabase;
  readonly #check: (ledger: unknown, model: unknown, what: string) => void;
  readonly #leases: (Held & { leased: Leased })[] = [];
  readonly #messages: Published[] = [];
  readonly #claims: Held[] = [];
  readonly #notes: model.ClaimNote[] = [];
  #passed = 0;
  #ticks = 0;

  constructor(database: TestDatabase, check: (ledger: unknown, model: unknown, what: string) => void) {
    this.#database = database;
    this.#check = check;
  }

  /** Seconds since the history began. Each step is a little later than the one before, as in the ledger. */
  get now(): number {
    return this.#passed + this.#ticks * 1e-4;
  }

  /**
   * Four rows: an older and a newer status for one recipient, one whose merchant has an unknown outcome held and
   * never too late, and a follow-up after an hour.
   */
  async begin(): Promise<void> {
    const { sql } = this.#database;
    await empty(this.#database);
    const two = await registerShipment(this.#database);
    const held = await registerShipment(this.#database);
    const later = await registerShipment(this.#database);
    await sql`SELECT owed.register_shipment(${held}, 'M-held', 'Shop', 'T'), owed.register_shipment(${later}, 'M-later', 'Shop', 'T')`;
    await sql`UPDATE owed.shipment SET merchant_id = CASE id WHEN ${held} THEN 'M-held' ELSE 'M-later' END WHERE id IN (${held}, ${later})`;
    await sql`
      INSERT INTO owed.rule (merchant_id, status, role, channel, template, delay_s, send_within_s, on_unknown) VALUES
        ('M-held', 'picked_up', 'buyer', 'email', 'picked_up', 0, NULL, 'hold'),
        ('M-later', 'picked_up', 'buyer', 'email', 'picked_up', 3600, 86400, 'resend') ON CONFLICT DO NOTHING`;
    const older = await this.#add(two, "picked_up", { sendBy: 2 * 86400 });
    older.newer.push(await this.#add(two, "out_for_delivery", { sendBy: 86400 }));
    await this.#add(held, "picked_up", { sendBy: Number.POSITIVE_INFINITY, onUnknown: "hold" });
    await this.#add(later, "picked_up", { sendBy: 86400, owedAt: 3600 });
  }

  async #add(shipment: string, status: string, given: Partial<model.ModelRow>): Promise<model.ModelRow> {
    this.#ticks += 1;
    const { sql } = this.#database;
    const event = `E-${randomUUID()}`;
    await sql`SELECT owed.record_event(${event}, ${shipment}, ${status}, clock_timestamp())`;
    const [row] = await sql<{ id: string }[]>`
      SELECT n.id FROM owed.notification n JOIN owed.event e ON e.key = n.event_key WHERE e.id = ${event}`;
    if (!row) throw new Error("the event owes nobody a notification");
    const added = { ...model.fresh(row.id), owedAt: this.now, ...given };
    this.rows.push(added);
    return added;
  }

  async step(step: Step): Promise<void> {
    this.#ticks += 1;
    const { ledger, sql } = this.#database;
    const now = this.now;
    switch (step.do) {
      case "pass": {
        const next = Math.min(
          ...this.rows.map(({ owedAt }) => owedAt ?? Number.POSITIVE_INFINITY).filter((at) => at > now),
        );
        const seconds = step.seconds ?? (Number.isFinite(next) ? Math.ceil(next - now) : 0);
        await passTime(sql, seconds);
        this.#passed += seconds;
        return;
      }
      case "sweep": {
        const before = this.#leases.length;
        await this.step(step.slice);
        const taken = this.#leases.length - before;
        if (step.until !== "lease")
          for (let at = 0; at < taken; at += 1) await this.step({ do: "publish", lease: at });
        if (step.until === "mark" && taken > 0)
          await this.step({ do: "mark", leases: [...Array(taken).keys()] });
        return;
      }
      case "deliver": {
        const before = this.#claims.length;
        await this.step({ do: "claim", messages: step.messages });
        const taken = Math.min(this.#claims.length - before, step.record.claims.length);
        if (taken > 0) await this.step({ ...step.record, claims: [...Array(taken).keys()] });
        return;
      }
      case "lease":
        return this.#lease(step);
      case "publish":
        for (const { row, leased } of pick(this.#leases, step.lease)) this.#send(row, leased.generation);
        return;
      case "redrive":
        for (const message of pick(this.#messages, step.message)) this.#send(message.row, message.generation);
        return;
      case "mark": {
        const held = distinct(step.leases.flatMap((at) => pick(this.#leases, at)));
        const marked = await markQueued(
          ledger,
          durations,
          held.map(({ leased }) => leased),
        );
        this.#check(marked, held.filter(({ row, token }) => model.mark(row, token, now)).length, "marked");
        return;
      }
      case "release": {
        const held = pick(this.#leases, step.lease);
        const released = await release(
          ledger,
          held.map(({ leased }) => ({ ...leased, wait: step.wait })),
        );
        this.#check(
          released,
          held.filter(({ row, token }) => model.release(row, token, now, step.wait)).length,
          "released",
        );
        return;
      }
      case "claim":
        return this.#claim(step.messages.flatMap((at) => pick(this.#messages, at)));
      case "record":
        return this.#record(step);
      case "evidence": {
        const [row] = pick(this.rows, step.row);
        if (!row) return;
        const id = `P-${step.reply}`;
        const at = step.ago === null ? null : new Date(Date.now() - step.ago * 1000).toISOString();
        const proof = {
          id: row.id,
          at,
          provider: "ses",
          providerMessageId: id,
          outcome: step.outcome,
          evidence: "feedback",
        } as const;
        const weighed = await recordEvidence(ledger, [proof]);
        this.#check(
          weighed,
          [{ id: row.id, ...model.weigh(row, id, step.outcome, now - (step.ago ?? 0)) }],
          "weighed",
        );
        return;
      }
      case "replay": {
        const rows = distinct(step.rows.flatMap((at) => pick(this.rows, at)).map((row) => ({ row }))).map(
          ({ row }) => row,
        );
        const ids = await replay(
          ledger,
          rows.map(({ id }) => id),
          act,
          step.kind,
        );
        const expected = rows.filter((row) => model.replayRow(row, now, step.kind)).map(({ id }) => id);
        this.#check(ids.toSorted(), expected.toSorted(), "replayed");
        return;
      }
      case "resolve":
        for (const row of pick(this.rows, step.row))
          this.#check(
            await allowed(resolveAsSent(ledger, row.id, act)),
            model.resolveRow(row, now),
            "resolved",
          );
        return;
      case "cancel":
        for (const row of pick(this.rows, step.row))
          this.#check(await allowed(cancel(ledger, row.id, act)), model.cancelRow(row), "cancelled");
        return;
      case "optOut":
        for (const row of pick(this.rows, step.row)) {
          await sql`UPDATE owed.subscriber SET opted_out_at = now() WHERE id = (SELECT subscriber_id FROM owed.notification WHERE id = ${row.id})`;
          for (const also of [row, ...row.newer, ...this.rows.filter((older) => older.newer.includes(row))])
            also.optedOut = true;
        }
    }
  }

  async #lease(step: Step & { do: "lease" }): Promise<void> {
    const now = this.now;
    const slice = await lease(this.#database.ledger, durations, { ...step, watermark: null });
    const due = this.rows
      .filter((row) => row.owedAt !== null && row.owedAt <= now)
      .filter(
        (row) =>
          (row.state !== "queued" || step.queued !== "skip") &&
          (row.state !== "unknown" || step.unknown !== "skip"),
      )
      .toSorted((a, b) => (a.owedAt ?? 0) - (b.owedAt ?? 0) || (a.id < b.id ? -1 : 1))
      .slice(0, step.limit);
    const done: string[] = [];
    const leased: model.ModelRow[] = [];
    for (const row of due) {
      const lost = step.queued === "lost" ? "yes" : model.isLost(row, this.#notes, now);
      const did = model.sweepRow(row, now, lost === "perhaps" ? await this.#isRescued(row) : lost === "yes");
      done.push(did);
      if (did === "lease") leased.push(row);
    }
    const count = (did: string) => done.filter((other) => other === did).length;
    this.#check(
      {
        ...slice,
        watermark: null,
        leased: slice.leased.map(({ id, token, generation }) => ({ id, token, generation })),
      },
      {
        taken: due.length,
        cancelled: count("cancel"),
        rescued: count("rescue"),
        unknown: count("unknown"),
        resent: count("resend"),
        held: count("hold"),
        lost: count("lose"),
        watermark: null,
        leased: leased.map(({ id, token, generation }) => ({ id, token, generation })),
      },
      "slice",
    );
    for (const item of slice.leased)
      for (const row of leased)
        if (row.id === item.id) this.#leases.push({ row, token: item.token, leased: item });
  }

  async #isRescued(row: model.ModelRow): Promise<boolean> {
    const [now] = await this.#database.sql<
      { state: string }[]
    >`SELECT state FROM owed.notification WHERE id = ${row.id}`;
    return now?.state !== "queued";
  }

  #send(row: model.ModelRow, generation: number): void {
    // SQS stamps whole milliseconds: no other step may fall into this one.
    for (const start = Date.now(); Date.now() < start + 2; );
    const wall = Date.now() + this.#passed * 1000;
    for (const start = Date.now(); Date.now() < start + 2; );
    this.#messages.push({ row, generation, messageId: `M-${this.#messages.length}`, sentAt: this.now, wall });
  }

  async #claim(messages: readonly Published[]): Promise<void> {
    const now = this.now;
    const verdicts = await claim(
      this.#database.ledger,
      durations,
      messages.map(({ row, generation, messageId, wall }) => ({
        id: row.id,
        generation,
        messageId,
        sentAt: wall - this.#passed * 1000,
      })),
    );
    const queuedAt: number[] = [];
    const expected = messages.map((message, place) => {
      // Two messages of one row in a batch: the second finds the row as the first left it.
      const before = messages.slice(0, place).some(({ row }) => row === message.row);
      const verdict = model.claimRow(message, now);
      if (verdict !== "claimed") return { verdict, before };
      if (message.row.queuedAt !== null) queuedAt.push(message.row.queuedAt);
      this.#claims.push({ row: message.row, token: message.row.token });
      return { verdict, before, token: message.row.token };
    });
    for (const [place, { verdict, before, ...token }] of expected.entries()) {
      const answer = verdicts[place];
      const told = {
        verdict: answer?.verdict,
        ...(answer?.verdict === "claimed" ? { token: answer.token } : {}),
      };
      // The later message of a row is judged by the row as it was: acknowledged or not, it must not claim.
      if (before && verdict !== "claimed")
        this.#check(told.verdict === "claimed", false, `second claim ${place}`);
      else this.#check(told, { verdict, ...token }, `verdict ${place}`);
    }
    if (queuedAt.length > 0) {
      const kept = this.#notes.every((note) => note.at <= now - 61);
      this.#notes.push({ at: now, queuedAt: Math.max(...queuedAt), kept });
    }
  }

  async #record(step: Step & { do: "record" }): Promise<void> {
    const now = this.now;
    const claims = distinct(step.claims.flatMap((at) => pick(this.#claims, at)));
    const kinds = claims.map((_, at) => step.outcomes[at % step.outcomes.length] as model.ModelOutcome);
    const id = `P-${step.reply}`;
    const fenced = await record(
      this.#database.ledger,
      durations,
      claims.map(({ row, token }, at) => ({
        id: row.id,
        token,
        outcome: outcomeOf(kinds[at] ?? "unknown", step.wait, id),
      })),
    );
    const expected = claims.filter(({ row, token }, at) => {
      const kind = kinds[at] ?? "unknown";
      return (
        !model.recordRow(row, token, kind, now, step.wait, id) && !model.isRecorded(row, token, kind, id)
      );
    });
    this.#check([...fenced].toSorted(), expected.map(({ row }) => row.id).toSorted(), "fenced");
  }
}

function outcomeOf(kind: model.ModelOutcome, wait: number, id: string): DeliveryOutcome {
  if (kind === "accepted") return { kind, provider: "ses", providerMessageId: id };
  if (kind === "not_called") return { kind };
  return kind === "throttled" ? { kind, reason: "rate", wait } : { kind, reason: "because" };
}

const allowed = (operation: Promise<void>) =>
  operation.then(
    () => true,
    (error) => {
      if (error instanceof NotAllowed) return false;
      throw error;
    },
  );
