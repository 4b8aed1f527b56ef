import { explainMoot, readCircumstances, show as showRow } from "@owed/ledger";
import type { Command } from "commander";
import { causeOf, mootOf, suppressionsOf, waits } from "../answer-cause.ts";
import { notificationId } from "../arguments.ts";
import { closedChannels } from "../closed.ts";
import { type Run, teach } from "../command.ts";
import { masked } from "../text/mask.ts";
import { time } from "../text/time.ts";
import { plural } from "../text/words.ts";
import { standing, timeline } from "../timeline.ts";

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
        const row = masked(await showRow(ledger, id), full);
        const closed = (await closedChannels(ledger, [row])).get(row.channel);
        const moot = mootOf(row, await explainMoot(ledger, waits(row) ? [row.id] : []));
        const circumstances = await readCircumstances(ledger, row.shipmentId, suppressionsOf([moot]));
        const moments = timeline(row, moot && causeOf(row, moot, circumstances));
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
            `now: ${standing(row, closed, moot)}`,
            counts.join(", "),
          ],
        };
      }),
    );
}
