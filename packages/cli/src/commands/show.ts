import type { Command } from "commander";
import { waits } from "../answer-cause.ts";
import { notificationId } from "../arguments.ts";
import { readHistory } from "../audit/history.ts";
import { type Run, teach } from "../command.ts";
import { time } from "../text/time.ts";
import { plural } from "../text/words.ts";

export function show(program: Command, run: Run): void {
  teach(program, "show", {
    summary: "a notification's whole history",
    description:
      "A notification's whole history in the order of time: its event, each try that was not clean, what people did, and what it is now.",
    changes: "nothing.",
    examples: ["show 0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001"],
  })
    .argument("<notification>", "its id", notificationId)
    .option("--full", "its address in full; it is masked otherwise")
    .action((id: string, { full = false }: { full?: boolean }) =>
      run("reads", async ({ ledger }) => {
        const { row, moot, moments, standing } = await readHistory(ledger, id, full);
        const counts = [
          plural(row.attempts, "attempt"),
          plural(row.rescues, "rescue"),
          plural(row.resends, "resend"),
          `generation ${row.generation}`,
        ];
        return {
          json: { ...row, moot: waits(row) ? moot : null, timeline: moments },
          lines: [
            `${row.id}  shipment ${row.shipmentId}`,
            ...moments.map(({ at, what }) => `${time(at)}  ${what}`),
            `now: ${standing}`,
            counts.join(", "),
          ],
        };
      }),
    );
}
