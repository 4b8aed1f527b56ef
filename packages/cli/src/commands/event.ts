import { randomUUID } from "node:crypto";
import { type Ledger, type Recorded, recordEvents, type ShipmentEvent } from "@owed/ledger";
import type { Command } from "commander";
import { instant, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import { Failure } from "../errors.ts";
import { plural } from "../text/words.ts";

type Options = { shipment: string; status: string; at?: string; id?: string };

export function event(program: Command, run: Run): void {
  teach(program, "event", {
    summary: "record a shipment's event, and owe its notifications",
    description:
      "Records that a shipment came into a status, and owes a notification to everyone who is to be told. The same event again (the same --id, shipment, status and --at) does nothing.",
    changes: "the ledger: an event, the shipment's current status, and the notifications it owes.",
    examples: [
      "event --shipment S-1001 --status customs_hold",
      "event --shipment S-1001 --status delivered --at 2026-03-29T09:30:00+02:00 --id carrier-77",
    ],
  })
    .requiredOption("--shipment <id>", "the shipment", text)
    .requiredOption("--status <status>", "its new status, such as customs_hold or out_for_delivery", text)
    .option("--at <time>", "when it occurred, RFC 3339 with offset (default: now)", instant)
    .option("--id <id>", "the event's own id: 1 to 128 of A-Z a-z 0-9 . _ : - (default: a new one)", text)
    .action((options: Options) =>
      run("writes", async ({ ledger }) => {
        const given: ShipmentEvent = {
          id: options.id ?? `cli-${randomUUID()}`,
          shipmentId: options.shipment,
          status: options.status,
          occurredAt: options.at ?? new Date().toISOString(),
        };
        const answer = await record(ledger, given);
        if (answer.outcome === "refused")
          throw new Failure("refused", `the event is refused: its ${answer.field} ${answer.reason}`);
        const notifications = answer.outcome === "recorded" ? answer.notifications : 0;
        const line =
          answer.outcome === "repeated"
            ? `Event ${given.id} was recorded before: nothing was done.`
            : `Recorded event ${given.id}: ${plural(notifications, "notification")}. See them: owed audit --shipment ${given.shipmentId}`;
        return { json: { outcome: answer.outcome, notifications, event: given }, lines: [line] };
      }),
    );
}

async function record(ledger: Ledger, given: ShipmentEvent): Promise<Recorded> {
  const [answer] = await recordEvents(ledger, [given]);
  if (!answer) throw new Error("the ledger gave no answer to one event");
  return answer;
}
