import { fileURLToPath } from "node:url";
import type { Console } from "@owed/console";
import { defaultDurations, Ledger, readChannels, readStatus } from "@owed/ledger";
import { startDemo } from "./demo.ts";
import { startPage } from "./page.ts";
import { freePort, PortTaken } from "./port.ts";
import { FolderInUse } from "./postgres.ts";
import { createSandbox } from "./sandbox.ts";
import { InvalidSetting, portFrom } from "./settings.ts";
import { type Stack, type Swept, startStack } from "./stack.ts";

const folder = process.env.OWED_FOLDER ?? fileURLToPath(new URL("../../../.owed", import.meta.url));
const clock = () => new Date().toTimeString().slice(0, 8);
const say = (line: string) => console.log(line);

/** Prints one line a beat: what was sent since the line before, what this sweep did, and how the ledger stands. */
function createReport(ledger: Ledger): (swept: Swept) => Promise<void> {
  let before: number | null = null;
  return async (swept) => {
    const { states, owed } = await readStatus(ledger);
    const sent = `${states.delivered - (before ?? states.delivered)} sent${before === null ? "" : " since the last line"}`;
    before = states.delivered;
    if (!swept.swept) {
      const why = swept.why === "paused" ? "paused (npm run owed -- resume)" : "another one is at work";
      say(`${clock()} sweep skipped: ${why}; ${sent}, ${owed} owed`);
      return;
    }
    const also = (["failed", "cancelled", "rescued", "unknown", "resent"] as const).filter(
      (name) => swept[name] > 0,
    );
    for (const { name, closed } of await readChannels(ledger, defaultDurations))
      if (closed) say(`${clock()} ${name} is closed (${closed.for}): ${closed.why}`);
    say(
      `${clock()} ${sent}; this sweep: ${swept.published} published${also.map((name) => `, ${swept[name]} ${name}`).join("")};` +
        ` ${swept.owed} owed; ${states.pending} wait for their time, ${states.delivered} delivered, ${states.dead} dead`,
    );
  };
}

function guide(stack: Stack, page: Console): void {
  say(`
Owed runs. Shipments change state; what is owed at once goes out at once, the rest with a sweep each minute.

  look at it         ${page.url}  (pause it, let events happen, stop the provider, and watch it recover)
  mailbox            ${stack.ses.mailboxUrl}  (emails, texts and webhooks)
  what is owed       npm run owed -- status
  who was notified   npm run owed -- audit --shipment OW-…   (the parcel's number in an email)
  pause the sweeps   npm run owed -- pause      and on again: npm run owed -- resume
  all commands       npm run owed -- --help

The ledger is PostgreSQL on 127.0.0.1:${stack.postgres.port}, its data in ${folder}/postgres: stop with Ctrl-C, start again, and
the first sweep sends what fell due meanwhile.
`);
}

/** A purged queue is noticed while somebody watches, not after twenty minutes: nothing here keeps a message for long. */
const settings = { durations: { lostAfter: 180 } };

async function main(): Promise<void> {
  // Heard from the beginning: who changes their mind while things start gets everything stopped as
  // well; a second signal (npm passes its own on) does not interrupt the stopping.
  const signal = new Promise<string>((stop) => {
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, () => stop(name));
  });
  say("starting PostgreSQL, SQS, SES and the functions …");
  const port = await freePort(portFrom("OWED_PORT_CONSOLE", 54_320), "OWED_PORT_CONSOLE");
  let report: ((swept: Swept) => Promise<void>) | null = null;
  const stack = await startStack({
    folder,
    ports: {
      postgres: portFrom("OWED_PORT_POSTGRES", 54_321),
      sqs: portFrom("OWED_PORT_SQS", 54_322),
      ses: portFrom("OWED_PORT_MAILBOX", 54_323),
      webhooks: portFrom("OWED_PORT_WEBHOOKS", 54_324),
    },
    settings,
    shadowQueue: process.env.OWED_SHADOW_QUEUE === "1",
    functionLogs: "ERROR",
    log: (line) => say(`${clock()} ${line}`),
    onSweep: (swept) => {
      report?.(swept).catch(() => say(`${clock()} the ledger does not answer`));
    },
  });
  try {
    const ledger = new Ledger(stack.ledgerOptions);
    report = createReport(ledger);
    const demo = await startDemo({
      ledger,
      bus: stack.bus,
      inboxOf: stack.webhooks.addressOf,
      every: 2,
      followUp: 180,
      deadLetters: true,
    });
    const page = await startPage(stack, createSandbox(stack, demo), port);
    guide(stack, page);
    // What fell due while nothing ran does not wait for the next minute.
    await stack.schedule
      .trigger()
      .catch(() => say(`${clock()} the first sweep failed; the next minute brings another`));

    say(`\n${await signal}: stopping; what is still owed waits in the ledger`);
    await page.stop();
    await demo.stop();
    await ledger.close();
  } finally {
    await stack.stop();
  }
}

try {
  await main();
  // The functions keep their connections for the next invocation, as on Lambda; here nothing comes any more.
  process.exit(0);
} catch (error) {
  const expected = [PortTaken, FolderInUse, InvalidSetting].some((kind) => error instanceof kind);
  console.error(expected && error instanceof Error ? error.message : error);
  process.exit(1);
}
