import type { SQSClient } from "@aws-sdk/client-sqs";
import { type Ledger, LedgerUnavailable } from "@owed/ledger";
import type postgres from "postgres";
import { seededRandom } from "../../packages/local/src/random.ts";
import { Clock } from "./clock.ts";
import { type Disturbance, Invocation, Turns } from "./invocation.ts";
import { Provider } from "./provider.ts";
import { Queue } from "./queue.ts";
import { sqsOf } from "./sqs.ts";
import type { Shipment, Status } from "./world.ts";

export type Event = { id: string; shipment: Shipment; status: Status; at: number };

/** The world of one history: its time, the queues, the provider, the functions under way, and the real ledger. */
export class Simulation {
  readonly clock = new Clock();
  readonly events = new Queue("event", this.clock);
  readonly notifications = new Queue("notification.fifo", this.clock, { receives: 5 });
  readonly feedback = new Queue("feedback", this.clock);
  readonly provider = new Provider(this.clock, this.feedback);
  /** The platform's events, and how often what may happen once did. */
  readonly happened: Event[] = [];
  readonly times = { redriven: 0, doubled: 0, restored: 0 };
  /** What must not have happened, as it is seen on the way. */
  readonly wrong: string[] = [];
  frozen: Invocation[] = [];
  /** Entries that SQS refuses of the next batch. */
  refusing = 0;
  backup: { at: number } | null = null;
  readonly random: () => number;
  readonly sql: postgres.Sql;
  readonly ledger: Ledger;
  readonly #turns = new Turns();

  constructor(database: { sql: postgres.Sql; ledger: Ledger }, seed: number) {
    this.sql = database.sql;
    this.ledger = database.ledger;
    this.random = seededRandom(seed);
  }

  async pass(seconds: number, { beating }: { beating: boolean }): Promise<void> {
    await this.sql`SELECT audit.pass(${seconds}, ${beating})`;
    this.clock.now += seconds;
  }

  /** Starts a function and waits until it has returned, died or frozen. */
  async invoke(
    what: string,
    disturbance: Disturbance | null,
    work: (by: Invocation) => Promise<void>,
  ): Promise<Invocation> {
    const overlap = async () => {
      for (const frozen of [...this.frozen]) await this.thaw(frozen);
    };
    const name = `${what} ${this.#running.size}`;
    const invocation = new Invocation(
      name,
      { turns: this.#turns, since: this.clock.now, overlap },
      disturbance,
    );
    const done = work(invocation).catch((error: unknown) => {
      // What a failed call led to is told to the platform, which tries again.
      if (!(invocation.disturbed && error instanceof LedgerUnavailable))
        this.wrong.push(`${what} threw ${String(error)}`);
    });
    this.#running.set(invocation, done);
    await Promise.race([done, invocation.stopped]);
    if (invocation.state === "frozen") {
      this.frozen.push(invocation);
      if (disturbance && disturbance.seconds > 0) await this.pass(disturbance.seconds, { beating: false });
    }
    return invocation;
  }

  readonly #running = new Map<Invocation, Promise<void>>();

  /** Lets a frozen function go on, to its end. */
  async thaw(invocation: Invocation): Promise<void> {
    this.frozen = this.frozen.filter((one) => one !== invocation);
    invocation.thaw();
    await this.#running.get(invocation);
  }

  /** The ledger as an invocation reaches it. */
  ledgerOf(by: Invocation): Ledger {
    const { ledger } = this;
    const run: Ledger["run"] = (statement, options) =>
      by.through(
        () => this.#run(by, statement, options),
        async (call, happened) => {
          if (happened) await call();
          throw new LedgerUnavailable(new Error("the connection broke"), !happened);
        },
      );
    return new Proxy(ledger, {
      get: (target, name) => (name === "run" ? run : Reflect.get(target, name, target)),
    });
  }

  /** The ledger's one connection knows whose statement it runs, and the audit keeps it. */
  async #run<T>(
    by: Invocation,
    statement: Parameters<typeof this.ledger.run<T>>[0],
    options: { repeatable: boolean },
  ): Promise<T> {
    if (by.name === "") return this.ledger.run(statement, options);
    const tell = (name: string) =>
      this.ledger.run((sql) => sql`SELECT set_config('audit.by', ${name}, false)`, { repeatable: true });
    await tell(by.name);
    try {
      return await this.ledger.run(statement, options);
    } finally {
      await tell("");
    }
  }

  sqsOf(by: Invocation): SQSClient {
    const refusals = () => {
      const { refusing } = this;
      this.refusing = 0;
      return refusing;
    };
    return sqsOf(by, [this.events, this.notifications, this.feedback], refusals);
  }

  /** What a function says of errors: a statement that fails without a cause outside of it is a fault of the product. */
  onError =
    (by: Invocation) =>
    (message: string, error: unknown): void => {
      if (error instanceof Error && "severity" in error)
        this.wrong.push(`${by.what}: ${message}: ${error.message}`);
    };
}
