import { type Act, type Ledger, NotAllowed, replay as replayRows, sendAgain, show } from "@owed/ledger";
import type { Command } from "commander";
import { actorOf, notificationId, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import type { Result } from "../output.ts";
import { mootAdvice, mootText } from "../text/moot.ts";

type Options = { why: string; asNew?: true };

export function replay(program: Command, run: Run): void {
  teach(program, "replay", {
    summary: "owe a dead or unknown notification again, or a delivered one as a new one",
    description:
      "Owes a dead or unknown notification again, if it is still true; its counters start anew. A delivered one is never replayed: with --as-new a new notification is owed that names the old one.",
    changes:
      "the ledger: the notification (with --as-new: a new one) is owed now, and the next sweep publishes it. The replay of an unknown one is counted as a possible duplicate.",
    examples: [
      'replay 0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001 --why "address corrected"',
      'replay 0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001 --as-new --why "the buyer deleted it and asks for it"',
    ],
  })
    .argument("<notification>", "its id", notificationId)
    .option("--as-new", "owe a new notification that names this delivered one")
    .requiredOption("--why <text>", "why, for the record", text)
    .action((id: string, { why, asNew }: Options, command: Command) => {
      const act = { actor: actorOf(command), why };
      return run("writes", ({ ledger }) => (asNew ? oweAnew(ledger, id, act) : owe(ledger, id, act)));
    });
}

/**
 * Owes a dead or unknown notification again. Throws `NotAllowed` in any other state, and for one that is no longer
 * true, with what can be done instead.
 */
export async function owe(ledger: Ledger, id: string, act: Act): Promise<Result> {
  const { ids, moot } = await replayRows(ledger, [id], act, "replayed");
  const untrue = moot.get(id);
  if (untrue !== undefined)
    throw new NotAllowed(
      `notification ${id} is left as it is, since ${mootText(untrue)}; ${mootAdvice(untrue)} (owed cancel ${id} --why …)`,
    );
  if (ids.length === 0) throw refusal(id, (await show(ledger, id)).state);
  return {
    json: { id, state: "pending", ...act },
    lines: [`${id} is owed again: the next sweep publishes it.`],
  };
}

async function oweAnew(ledger: Ledger, id: string, act: Act): Promise<Result> {
  const anew = await sendAgain(ledger, id, act);
  return {
    json: { id: anew, state: "pending", replays: id, ...act },
    lines: [`Owed as a new notification, ${anew}, which names ${id}: the next sweep publishes it.`],
  };
}

function refusal(id: string, state: string): NotAllowed {
  if (state === "delivered")
    return new NotAllowed(
      `notification ${id} is delivered and is never replayed; to send its content once more, owe a new one with --as-new`,
    );
  if (state === "cancelled")
    return new NotAllowed(
      `notification ${id} is cancelled and stays so; record a new event if it is true again`,
    );
  return new NotAllowed(
    `notification ${id} is ${state}: it is owed already and will be sent without your help`,
  );
}
