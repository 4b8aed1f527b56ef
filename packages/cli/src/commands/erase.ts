import { type Erased, erase as erasePerson, type Person } from "@owed/ledger";
import type { Command } from "commander";
import { actorOf, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import { Failure } from "../errors.ts";
import { plural } from "../text/words.ts";

type Options = {
  address?: string;
  channel?: string;
  shipment?: string;
  recipient?: string;
  why: string;
  dryRun?: true;
};

export function erase(program: Command, run: Run): void {
  teach(program, "erase", {
    summary: "erase what is kept of a person",
    description:
      "Erases a person's addresses and names, in the archive too: everybody with an address, or a shipment's recipient, on all their channels. What is not sent yet is cancelled; a suppressed address stays suppressed, as a digest. That they were notified, when and on what evidence stays. Mailboxes, and what providers keep, are out of reach.",
    changes: "the ledger, and nothing brings it back; who erased, when and why is kept, without the address.",
    examples: [
      'erase --address ann@example.com --why "request 4711" --dry-run',
      'erase --shipment S-1001 --recipient buyer-1 --why "request 4711"',
    ],
  })
    .option(
      "--address <address>",
      "everybody who has it, and wherever it is mentioned; upper and lower case alike",
      text,
    )
    .option("--channel <channel>", "with --address: on this channel alone", text)
    .option("--shipment <id>", "with --recipient: the shipment", text)
    .option("--recipient <id>", "with --shipment: its recipient", text)
    .option("--dry-run", "only count what would be erased")
    .requiredOption("--why <text>", "why, for the record", text)
    .action((options: Options, command: Command) => {
      const act = { actor: actorOf(command), why: options.why };
      const person = personOf(options);
      const dryRun = options.dryRun === true;
      return run("writes", async ({ ledger }) => {
        const done = await erasePerson(ledger, person, act, { dryRun });
        if (!done) throw nobody(person);
        const { id, ...erased } = done;
        return {
          json: { erasure: id, dryRun, ...erased, actor: act.actor },
          lines: lines(id, erased, dryRun),
        };
      });
    });
}

function personOf({ address, channel, shipment, recipient }: Options): Person {
  const byAddress = address !== undefined && shipment === undefined && recipient === undefined;
  if (byAddress) return { address, channel };
  if (address === undefined && channel === undefined && shipment !== undefined && recipient !== undefined)
    return { shipmentId: shipment, recipientId: recipient };
  throw new Failure(
    "usage",
    "whom? Give --address, with or without --channel; or --shipment and --recipient",
  );
}

function nobody(person: Person): Failure {
  if ("address" in person) {
    const where = person.channel === undefined ? "" : ` on the channel ${person.channel}`;
    return new Failure("not_found", `no subscriber has this address${where}, and nothing mentions it`);
  }
  const { shipmentId, recipientId } = person;
  return new Failure(
    "not_found",
    `the ledger knows no recipient ${recipientId} of a shipment ${shipmentId}; look for the ids with 'owed audit --shipment S'`,
  );
}

function lines(id: string | null, erased: Omit<Erased, "id">, dryRun: boolean): string[] {
  if (Object.values(erased).every((count) => count === 0)) return ["Nothing of this person is kept."];
  const { subscribers, notifications, cancelled, suppressions, refusedEvents, texts, formerAddresses } =
    erased;
  return [
    dryRun ? "Would erase, and has not:" : `Erased, as erasure ${id}:`,
    `  the address and name of ${plural(subscribers, "subscriber")}`,
    `  ${plural(formerAddresses, "address", "addresses")} of before`,
    `  where ${plural(notifications, "notification")} went`,
    `  ${plural(cancelled, "notification")} not sent yet, cancelled`,
    `  ${plural(suppressions, "suppression")}, which keep a digest`,
    `  the bodies of ${plural(refusedEvents, "refused event")}`,
    `  words in ${plural(texts, "reason")}`,
  ];
}
