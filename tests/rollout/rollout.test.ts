import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { long } from "../support/long.ts";
import { commandLine, play } from "./play.ts";

let cloud: Cloud;
beforeAll(async () => {
  cloud = await startCloud({ shadowQueue: true });
});
afterEach(async () => {
  await cloud.reset();
  for (const table of ["cutover", "old_send", "subscriber", "shipment", "merchant"])
    await cloud.sql`DELETE FROM owed.${cloud.sql(table)}`;
});
afterAll(() => cloud.stop());

type Row = {
  id: string;
  event: string;
  template: string;
  state: string;
  reason: string | null;
  outcome: string;
  evidence: string | null;
  mode: string | null;
};

const seeds = process.env.OWED_ROLLOUT_SEEDS?.split(",").map(Number) ?? (long ? [1, 2] : [1]);

test.each(seeds)(
  "two senders on one ledger while merchants move over and back: nobody is told twice, nobody not at all (seed %i)",
  async (seed) => {
    cloud.run("deliver");
    const { old, events } = await play(cloud, seed, 10);

    const rows = await cloud.sql<Row[]>`
    SELECT n.id, e.id AS event, r.template, n.state, n.outcome, n.reason, n.evidence, n.mode FROM owed.notification n
    JOIN owed.event e ON e.key = n.event_key JOIN owed.rule r ON r.id = n.rule_id ORDER BY n.id`;
    const byOwed = Map.groupBy(cloud.ses.sent, (email) => String(email.tags.notification));
    const byOld = Map.groupBy(old.sent, ({ event, template }) => `${event} ${template}`);
    const sends = (row: Row) =>
      (byOwed.get(row.id) ?? []).length + (byOld.get(`${row.event} ${row.template}`) ?? []).length;

    expect(new Set(rows.map(({ event }) => event))).toEqual(new Set(events));
    // None twice, none lost: each was sent once and is delivered, or was not, for a reason that holds.
    const sent = ({ state, outcome }: Row) => state === "delivered" || outcome !== "none";
    expect(rows.filter((row) => sends(row) !== (sent(row) ? 1 : 0))).toEqual([]);
    expect(rows.filter(({ state }) => state !== "delivered" && state !== "cancelled")).toEqual([]);
    const untold = rows.filter(({ state }) => state === "cancelled").map(({ reason }) => reason);
    expect(
      [...new Set(untold)].filter(
        (reason) => !["superseded", "expired", "old_sender: no longer held"].includes(String(reason)),
      ),
    ).toEqual([]);
    // Both did their part, so that the above says something.
    expect(old.sent.length).toBeGreaterThan(3);
    expect(cloud.ses.sent.length).toBeGreaterThan(3);

    const { json } = await commandLine(cloud)(
      "compare",
      "--since",
      "2020-01-01T00:00:00Z",
      "--limit",
      "1000",
    );
    expect(json.total).toMatchObject({ twice: 0, waiting: 0 });
    const explained =
      /^(Owed would not: |the old sender would not: |nobody sent it, and now it is cancelled: )/;
    const differences = json.differences as { why: string }[];
    expect(differences.filter(({ why }) => !explained.test(why))).toEqual([]);
  },
);
