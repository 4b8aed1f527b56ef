import { type Command, InvalidArgumentError, Option } from "commander";
import { instant, text } from "../arguments.ts";
import { type Run, teach } from "../command.ts";
import { loaded } from "../preview/load.ts";
import type { Options } from "../preview/options.ts";

export function preview(program: Command, run: Run): void {
  teach(program, "preview", {
    summary: "what would be sent, with sample values",
    description:
      "Shows what is sent of a template, with the values of a sample parcel or those that are given. Without options: which templates there are in which language and channel. Reads the language files alone: no ledger is needed.",
    changes: "nothing.",
    examples: [
      "preview",
      "preview --status customs_hold --locale de-AT",
      "preview --template delivered --channel sms --merchant Möbelhaus --parcel RR123456785AT",
      "preview --template delivered --html",
      "preview --check",
    ],
  })
    .option("--template <name>", "of one template, such as customs_hold.still", text)
    .option("--status <status>", "of a status, its follow-ups too", text)
    .option("--channel <channel>", "on one channel, such as email", text)
    .option("--locale <tag>", "the recipient's language (default: en)", text)
    .addOption(
      new Option("--role <role>", "to whom (default: buyer)").choices([
        "buyer",
        "merchant",
        "agent",
        "warehouse",
      ]),
    )
    .option("--name <name>", "the recipient's name", text)
    .option("--merchant <name>", "the merchant's name", text)
    .option("--parcel <number>", "the tracking number", text)
    .option("--tracking-url <url>", "the merchant's tracking page, with {tracking_number} in it", text)
    .option("--time-zone <zone>", "the recipient's, such as Europe/Vienna", timeZone)
    .option("--at <time>", "when it occurred, RFC 3339 with offset", instant)
    .option("--html", "the HTML of one template's email alone")
    .option("--check", "look for mistakes in all language files; exits 1 if there are errors")
    .action((options: Options) =>
      // The other commands do without the language files, whatever somebody has made of them.
      run(async () => {
        const { check, messages, overview, page } = await loaded(import("../preview/index.ts"));
        if (options.check) return check();
        if (options.html) return page(options);
        return Object.keys(options).length === 0 ? overview() : messages(options);
      }),
    );
}

/** A name of the IANA database: with another one the message would say the time in UTC. */
function timeZone(given: string): string {
  const name = text(given);
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
  } catch {
    throw new InvalidArgumentError("It must be a time zone of the IANA database, such as Europe/Vienna.");
  }
  return name;
}
