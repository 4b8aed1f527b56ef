import type postgres from "postgres";

/** What tells one notification from the others, for both senders. */
export type Told = { merchant: string; event: string; recipient: string; channel: string; template: string };

type Timer = Told & { shipment: string; status: string; dueAt: number };

export type Chance = (probability: number) => boolean;

/**
 * The sender that a platform had before: timers in its own process. It asks the ledger before each send, and says what
 * became of it, as docs/rollout.md tells. Now and then it vanishes between its claim and the send.
 */
export class OldSender {
  /** Each message that a recipient got from it. */
  readonly sent: Told[] = [];
  readonly #sql: postgres.Sql;
  readonly #chance: Chance;
  #timers: Timer[] = [];
  readonly #statuses = new Map<string, string>();
  /** Seconds that have passed beside the clock. */
  #ahead = 0;

  constructor(sql: postgres.Sql, chance: Chance) {
    this.#sql = sql;
    this.#chance = chance;
  }

  passTime(seconds: number): void {
    this.#ahead += seconds;
  }

  /** The platform tells it of an event, and it sets its timers. */
  hear(event: { id: string; merchant: string; shipment: string; status: string }): void {
    const { id, merchant, shipment, status } = event;
    this.#statuses.set(shipment, status);
    const timer = { merchant, event: id, recipient: "buyer-1", channel: "email", shipment, status };
    this.#timers.push({ ...timer, template: status, dueAt: this.#now() });
    if (status === "customs_hold")
      this.#timers.push({ ...timer, template: "customs_hold.still", dueAt: this.#now() + 86_400 });
  }

  /** Fires what is due: its own timers, and what the ledger says it has none for. */
  async tick(): Promise<void> {
    const due = this.#timers.filter(({ dueAt }) => dueAt <= this.#now());
    this.#timers = this.#timers.filter(({ dueAt }) => dueAt > this.#now());
    const held = await this.#call(
      (sql) => sql<(Told & { shipment: string; status: string })[]>`
      SELECT merchant_id AS merchant, event_id AS event, recipient_id AS recipient, channel, template, shipment_id AS shipment, status
      FROM owed.old_due(50)`,
    );
    for (const timer of [...due, ...held]) await this.#fire(timer);
  }

  async #fire({
    merchant,
    event,
    recipient,
    channel,
    template,
    shipment,
    status,
  }: Omit<Timer, "dueAt">): Promise<void> {
    const told: Told = { merchant, event, recipient, channel, template };
    const [answer] = await this.#call(
      (sql) => sql<{ may: boolean }[]>`
        SELECT owed.old_claim(${merchant}, ${event}, ${recipient}, ${channel}, ${template}) AS may`,
    );
    if (!answer?.may) return;
    if (this.#chance(0.1)) return;
    if (template === "customs_hold.still" && this.#statuses.get(shipment) !== status) {
      await this.#call(
        (sql) => sql`
          SELECT owed.old_gave_up(${merchant}, ${event}, ${recipient}, ${channel}, ${template}, 'no longer held')`,
      );
      return;
    }
    this.sent.push(told);
    const message = `old-${this.sent.length}`;
    await this.#call(
      (sql) => sql`
        SELECT owed.old_sent(${merchant}, ${event}, ${recipient}, ${channel}, ${template}, 'smtp', ${message}, clock_timestamp())`,
    );
  }

  #now(): number {
    return Date.now() / 1000 + this.#ahead;
  }

  /** With the rights that a platform has. */
  async #call<Row extends readonly object[]>(
    work: (sql: postgres.TransactionSql) => PromiseLike<Row>,
  ): Promise<Row> {
    const rows = await this.#sql.begin(async (sql) => {
      await sql`SET LOCAL ROLE owed_platform`;
      return [await work(sql)] as const;
    });
    return rows[0] as Row;
  }
}
