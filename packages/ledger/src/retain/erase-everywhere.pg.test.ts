import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../../../../tests/support/database.ts";
import { happen } from "../../../../tests/support/shipment.ts";
import { audit } from "../ask/audit.ts";
import { recordEvidence } from "../deliver/record-evidence.ts";
import { keepRefusedEvent } from "../event/keep-refused-event.ts";
import { cancel } from "../operate/cancel.ts";
import { proofOf, take } from "../testing/act.ts";
import { everything, tell, watch } from "../testing/person.ts";
import { passDays, retainAll, startRound } from "../testing/retention.ts";
import { readRows } from "../testing/rows.ts";
import { erase } from "./erase.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const nothing = {
  ...{
    id: null,
    subscribers: 0,
    notifications: 0,
    cancelled: 0,
    suppressions: 0,
    refusedEvents: 0,
    texts: 0,
    formerAddresses: 0,
  },
};
let count = 0;

test("wherever an address or a name stood, it stands no more, and the audit still answers", async () => {
  const anyPerson = fc.record({
    local: fc.stringMatching(/^[a-z][a-z0-9.+'_$*-]{3,12}x$/),
    upper: fc.boolean(),
    name: fc.constantFrom("Zoë Quill", "Li (Wei) *", "O'Neil \\1 $&", "李小龍", "Quillon"),
    idIsAddress: fc.boolean(),
    archived: fc.boolean(),
    bounces: fc.boolean(),
    corrected: fc.boolean(),
    by: fc.constantFrom("address", "recipient"),
  });
  await fc.assert(
    fc.asyncProperty(
      anyPerson,
      async ({ local, upper, name, idIsAddress, archived, bounces, corrected, by }) => {
        const plain = `${local}.${++count}@mail.example`;
        const address = upper ? plain.toUpperCase() : plain;
        const recipient = idIsAddress
          ? `${local.replaceAll(/[+'$*]/g, "")}.${count}@mail.example`
          : "buyer-1";
        const shipment = await watch(database, { address, name, recipient });
        const id = await tell(database, shipment);
        if (bounces)
          await recordEvidence(database.ledger, [
            proofOf(id, {
              outcome: "bounced",
              suppress: true,
              detail: `550 <${plain}>`,
              providerMessageId: `P-${id}`,
            }),
          ]);
        await happen(database, shipment, "customs_hold");
        const [, open] = await readRows(database, shipment);
        if (open?.state === "pending")
          await cancel(database.ledger, open.id, { actor: "ana", why: `${name} (${address}) called` });
        const body = JSON.stringify({ mail: { destination: [address] } });
        await keepRefusedEvent(database.ledger, {
          messageId: `m-${count}`,
          queue: "feedback",
          field: "id",
          reason: "is unknown",
          body,
        });
        if (archived) {
          await database.sql`UPDATE owed.notification SET send_by = now() WHERE owed_at IS NOT NULL`;
          await take(database);
          await passDays(database, 91);
          await startRound(database);
          await retainAll(database);
        }
        // By the address of before, whoever has another one stays.
        if (corrected && by === "recipient")
          await watch(database, { address: `now.${plain}`, name, recipient }, shipment);
        const before = await audit(database.ledger, { shipmentId: shipment });
        const person =
          by === "address" ? { address: plain } : { shipmentId: shipment, recipientId: recipient };
        await erase(
          database.ledger,
          person,
          { actor: "ana", why: `${name} <${address}> asked` },
          { dryRun: false },
        );
        const all = await everything(database);
        for (const word of [plain, name.toLowerCase(), ...(idIsAddress ? [recipient] : [])])
          expect(all).not.toContain(word);
        const after = await audit(database.ledger, { shipmentId: shipment });
        const proof = ({
          id: row,
          deliveredAt,
          providerMessageId,
          evidence,
          outcome,
        }: (typeof after)[number]) => [...[row, deliveredAt, providerMessageId, evidence, outcome]];
        expect(after.map(proof)).toEqual(before.map(proof));
        const again = await erase(database.ledger, person, { actor: "ana", why: "again" }, { dryRun: false });
        expect(again).toEqual(by === "address" ? null : nothing);
      },
    ),
    { numRuns: 12 },
  );
});
