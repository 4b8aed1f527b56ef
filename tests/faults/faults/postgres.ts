import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import type { World } from "../world/world.ts";
import { fillDisk } from "./disk.ts";
import { counted, fault, type MeetableFault, repeat } from "./met.ts";
import { takeSlots } from "./slots.ts";

type Observed = Pick<World, "database">;

/** A session of the fault's own, beside the proxy. */
const session = ({ database: { server } }: Observed) => {
  const { host, port, user, password, database } = server;
  return postgres({ host, port, user, password, database, max: 1, fetch_types: false, onnotice: () => {} });
};

type Begin = Parameters<typeof fault>[1];

/** Counts connections that were refused, cut or silent while the fault lasts. */
const network = (name: string, begin: Begin) =>
  counted(
    `postgres: ${name}`,
    ({ database: { proxy } }) =>
      () =>
        proxy.hits,
    begin,
  );

/** Counts PostgreSQL's own answers with these SQLSTATEs while the fault lasts. */
const answers = (name: string, codes: readonly string[], begin: Begin) =>
  counted(
    `postgres: ${name}`,
    ({ database: { proxy } }) =>
      () =>
        codes.reduce((sum, code) => sum + (proxy.errors.get(code) ?? 0), 0),
    begin,
  );

/** Does something to the functions' statements that are under way: to all, or to a part. */
const toStatements = (name: string, codes: readonly string[], what: string) =>
  answers(name, codes, async (world, draw) => {
    const sql = session(world);
    const part = [1, 0.5, 0.2][draw(3)];
    // Inside the server: statements take milliseconds.
    const interrupt = () =>
      sql.unsafe(`DO $$ BEGIN
        FOR time IN 1..20 LOOP
          PERFORM pg_stat_clear_snapshot();
          PERFORM ${what}(pid) FROM pg_stat_activity
          WHERE application_name LIKE 'owed-%' AND state = 'active' AND random() < ${part};
          PERFORM pg_sleep(0.001);
        END LOOP;
      END $$`);
    const end = repeat(() => 1, interrupt);
    return async () => {
      await end();
      await sql.end();
    };
  });

/** A long transaction of somebody else's, on whose rows the functions' statements wait. */
const locked = fault("postgres: somebody holds rows for long", async (world, draw, meet) => {
  const [holder, looker] = [session(world), session(world)];
  const over = Promise.withResolvers<void>();
  const tables = draw(2) === 0 ? ["shipment", "heartbeat"] : ["notification"];
  const holding = holder.begin(async (transaction) => {
    for (const table of tables) await transaction.unsafe(`SELECT FROM owed.${table} FOR UPDATE`);
    // The test lets time pass in these very rows, and can't wait for ever; deliver gives up after 2.5 s.
    await Promise.race([over.promise, sleep(3_000, undefined, { ref: false })]);
  });
  const look = async () => {
    const [waiting] = await looker<{ number: number }[]>`
      SELECT count(*)::int AS number FROM pg_stat_activity
      WHERE application_name LIKE 'owed-%' AND wait_event_type = 'Lock'`;
    meet(waiting?.number);
  };
  const endLooking = repeat(() => 20, look);
  return async () => {
    await endLooking();
    over.resolve();
    await holding;
    await Promise.all([holder.end(), looker.end()]);
  };
});

/** New sessions may not write, as on a standby that clients reach after a failover; the old ones are ended. */
const readOnly = answers("it is read-only", ["25006"], async (world) => {
  const { sql } = world.database;
  const endOthers = () =>
    sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'owed-%'`;
  await sql`ALTER DATABASE owed SET default_transaction_read_only = on`;
  await endOthers();
  return async () => {
    // This session may have begun since.
    await sql.begin("READ WRITE", async (transaction) => {
      await transaction`ALTER DATABASE owed RESET default_transaction_read_only`;
    });
    await endOthers();
  };
});

export const postgresFaults: readonly MeetableFault[] = [
  network("killed", async ({ database }) => {
    await database.kill();
    return () => database.restart();
  }),
  network("restarted", async ({ database }) => {
    const restarted = database.restart();
    return () => restarted;
  }),
  toStatements("sessions are ended", ["57P01"], "pg_terminate_backend"),
  toStatements("statements are cancelled", ["57014"], "pg_cancel_backend"),
  answers("connections are used up", ["53300"], async ({ database }) => takeSlots(database)),
  network("unreachable", async ({ database: { proxy } }) => {
    proxy.refuse();
    return async () => proxy.open();
  }),
  network("half open", async ({ database: { proxy } }) => {
    proxy.silence();
    return async () => proxy.open();
  }),
  network("its answers are lost", async ({ database: { proxy } }) => {
    proxy.silence({ answers: "only" });
    return async () => proxy.open();
  }),
  network("connections are cut", async ({ database: { proxy } }, draw) =>
    repeat(
      () => 5 + draw(100),
      async () => proxy.cut(),
    ),
  ),
  answers("the disk is full", ["53100"], async ({ database }) => fillDisk(database)),
  readOnly,
  locked,
];
