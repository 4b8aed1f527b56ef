import { readFile } from "node:fs/promises";
import { Ledger } from "@owed/ledger";
import type postgres from "postgres";
import { asNew } from "../../packages/ledger/src/testing/rows.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { readTimes } from "../support/time.ts";
import { ownRules, shipments, world } from "./world.ts";

/** What a ledger's backup holds: all that is not a setting. In an order in which it can be put back. */
const tables = [
  ...["shipment", "event", "subscriber", "notification", "attempt", "suppression"],
  ...["channel", "heartbeat", "sweep_run", "claim_mark", "refused_event"],
];

/** A database with what histories need beside the product's schema; `sql` runs one statement after the other. */
export async function createHistories(): Promise<TestDatabase> {
  const made = await createDatabase();
  const ledger = new Ledger({ ...made.options, connections: 1 });
  const database = { ...made, ledger, drop: () => ledger.close().then(made.drop) };
  const { sql } = database;
  await sql.unsafe(await readFile(new URL("audit.sql", import.meta.url), "utf8"));
  await sql.unsafe(await passFunction(sql));
  const restoring = tables.map(
    (name) => `INSERT INTO owed.${name} OVERRIDING SYSTEM VALUE SELECT * FROM audit.backup_${name};`,
  );
  await sql.unsafe(`
    ${tables.map((name) => `CREATE TABLE audit.backup_${name} AS TABLE owed.${name} WITH NO DATA;`).join("\n")}
    CREATE FUNCTION audit.back_up() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
      ${tables.map((name) => `DELETE FROM audit.backup_${name}; INSERT INTO audit.backup_${name} TABLE owed.${name};`).join("\n")}
    END $$;
    CREATE FUNCTION audit.restore(passed double precision) RETURNS void LANGUAGE plpgsql
    SET session_replication_role = replica AS $$ BEGIN
      ${tables.map((name) => `DELETE FROM owed.${name};`).join("\n")}
      ${restoring.join("\n")}
      PERFORM audit.pass(passed, false);
      INSERT INTO audit.change (note) VALUES ('restore');
    END $$;
    CREATE FUNCTION audit.reset() RETURNS void LANGUAGE plpgsql
    SET session_replication_role = replica AS $$ BEGIN
      ${tables
        .filter((name) => name !== "channel" && name !== "heartbeat")
        .map((name) => `DELETE FROM owed.${name};`)
        .join("\n")}
      DELETE FROM audit.change; DELETE FROM audit.known; DELETE FROM audit.told;
      ${asNew}
      ${shipments
        .map((id) => {
          const { merchant, recipients } = world[id];
          const watch = recipients.map(
            (who) =>
              `PERFORM owed.subscribe('${id}', '${who}', '${who}', 'email', '${who}.${id}@example.com', '${who}');`,
          );
          return `PERFORM owed.register_shipment('${id}', '${merchant}', 'Shop', 'T-${id}'); ${watch.join(" ")}`;
        })
        .join("\n")}
    END $$;`);
  for (const [merchant, status, delay, sendWithin, current, onUnknown] of ownRules) {
    await sql`INSERT INTO owed.merchant VALUES (${merchant}, 'Shop') ON CONFLICT DO NOTHING`;
    await sql`
      INSERT INTO owed.rule (merchant_id, status, role, channel, template, delay_s, send_within_s, only_while_current, on_unknown)
      VALUES (${merchant}, ${status}, 'buyer', 'email', ${status}, ${delay}, ${sendWithin}, ${current}, ${onUnknown})`;
  }
  return database;
}

/**
 * As `passTime` of tests/support, in one call: every time that the ledger holds moves back. With `beating` the
 * schedule beat all the while; without, nobody swept, and the gap shows.
 */
async function passFunction(sql: postgres.Sql): Promise<string> {
  const columns = (await readTimes(sql)).filter(
    ({ table }) => !["merchant", "rule", "status"].includes(table),
  );
  const updates = [...Map.groupBy(columns, ({ table }) => table)].map(([table, changes]) => {
    const set = changes.map(({ column }) => {
      if (column === "minute") return `minute = minute + interval '36500 days' - past`;
      return column === "beat_at"
        ? `beat_at = CASE WHEN beating THEN beat_at ELSE beat_at - past END`
        : `${column} = ${column} - past`;
    });
    return `UPDATE owed.${table} SET ${set.join(", ")};`;
  });
  return `
    CREATE FUNCTION audit.pass(seconds double precision, beating boolean) RETURNS void LANGUAGE plpgsql
    SET session_replication_role = replica AS $$
    DECLARE past interval := make_interval(secs => seconds);
    BEGIN
      -- A key: in two steps, so that no mark meets the one of the minute before on its way.
      UPDATE owed.claim_mark SET minute = minute - interval '36500 days';
      ${updates.join("\n")}
    END $$;`;
}
