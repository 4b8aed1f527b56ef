import type { Command } from "commander";
import { expect, test } from "vitest";
import { Failure } from "./errors.ts";
import { createProgram } from "./program.ts";
import { runCli } from "./testing.ts";

const nowhere = async () => {
  throw new Failure("not_configured", "nothing says where the ledger is");
};
const id = "0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001";

/** Each command by its words, those of a group among them. */
const namesOf = ({ commands }: Command): string[] =>
  commands.flatMap((command) =>
    command.commands.length === 0
      ? [command.name()]
      : namesOf(command).map((name) => `${command.name()} ${name}`),
  );
const names = namesOf(createProgram({ out: () => {}, err: () => {} }, async () => {}));

/** What needs no ledger does its work. */
const withoutLedger = ["preview"];

test("every command is there", () => {
  expect(names.toSorted()).toEqual(
    [
      ..."audit backfill cancel close compare cutover dead erase event lift open pause preview redrive refused".split(
        " ",
      ),
      ..."replay report resolve restored resume show status suppressed sweep".split(" "),
      ...["rules check", "rules list", "rules retire", "rules set", "rules try", "webhook-secret"],
    ].toSorted(),
  );
});

test.each(names)("the help of %s says what it changes and shows an example of itself", async (name) => {
  const { code, out, err } = await runCli([...name.split(" "), "--help"], nowhere);
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/^Changes: \S/m);
  expect(out).toContain(`$ npm run owed -- ${name}`);
  expect(out).toContain("--json");
});

test("an example in a help is a command line that the parser takes", async () => {
  for (const name of names) {
    const { out } = await runCli([...name.split(" "), "--help"], nowhere);
    for (const [, example = ""] of out.matchAll(/npm run owed -- ([^|&\n]+)/g)) {
      const argv = [...example.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");
      const { code, out: json, err } = await runCli(argv, nowhere);
      const alone = withoutLedger.includes(name);
      expect([example, code]).toEqual([example, alone ? 0 : 1]);
      expect((json + err).includes("nothing says where the ledger is")).toBe(!alone);
    }
  }
});

const setting = [
  "rules",
  "set",
  "--status",
  "delivered",
  "--role",
  "buyer",
  "--channel",
  "sms",
  "--why",
  "x",
];

test.each([
  [["show", "1"], "A notification's id looks like"],
  [["show"], "missing required argument 'notification'"],
  [["statsu"], "unknown command 'statsu'\n(Did you mean status?)"],
  [["status", "--jsn"], "unknown option '--jsn'\n(Did you mean --json?)"],
  [["status", "now"], "too many arguments"],
  [["event", "--shipment", "S-1"], "required option '--status <status>' not specified"],
  [["event", "--shipment", "S-1", "--status", "delivered", "--at", "2026-03-29 09:30"], "(RFC 3339)"],
  [["event", "--shipment", "S-1", "--status", "delivered", "--at", "2026-03-29T09:30:00"], "(RFC 3339)"],
  [["dead", "--limit", "0"], "whole number from 1 to 10,000"],
  [["dead", "--limit", "1e3"], "whole number from 1 to 10,000"],
  [["dead", "--reason", " "], "1 to 1,000 characters"],
  [["cancel", id], "required option '--why <text>' not specified"],
  [["cancel", id, "--why", "x", "--actor", "a\u001bb"], "who does this?"],
  [["resolve", id, "--why", "x"], "one of --sent and --resend"],
  [["resolve", id, "--why", "x", "--sent", "--resend"], "one of --sent and --resend"],
  [["redrive", id], "--why is needed"],
  [["redrive", "--all"], "--why is needed"],
  [["redrive", id, "--all", "--why", "x"], "one of the three"],
  [["redrive", "--all", "--channel", "email", "--why", "x"], "one of the three"],
  [["redrive", id, "2"], "A notification's id looks like"],
  [["redrive"], "--why is needed"],
  [["redrive", "--queue", "mail"], "Allowed choices are notification, event, feedback"],
  [["redrive", "--queue", "event", "--all"], "it takes no filter"],
  [["close", "email"], "required option '--why <text>' not specified"],
  [["open", "email"], "required option '--why <text>' not specified"],
  [["lift", "ann@example.com", "--why", "x"], "required option '--channel <channel>' not specified"],
  [["lift", "ann@example.com", "--channel", "email"], "required option '--why <text>' not specified"],
  [["rules", "set", "--status", "delivered", "--role", "cook"], "Allowed choices are buyer, merchant"],
  [[...setting, "--delay", "2 hours"], "such as 45s, 90m, 24h, 7d or 1d12h"],
  [[...setting, "--at", "25:00"], "a time of day such as 09:00"],
  [[...setting, "--send-within", "soon"], "or none"],
  [["rules", "retire", "first", "--why", "x"], "A rule's id is a whole number"],
  [["refused", "--all"], "go with --retry"],
  [["refused", "--again"], "go with --retry"],
  [["refused", "--queue", "event"], "go with --retry"],
  [["refused", "--retry"], "say which to give back"],
  [["refused", "--retry", "--all"], "say which to give back"],
  [["refused", "--retry", "1", "--all", "--queue", "event"], "give ids, or --all"],
  [["refused", "--retry", "1", "x"], "A refused event's id is a whole number"],
  [["refused", "--retry", "--all", "--queue", "notification"], "Allowed choices are event, feedback"],
])("%j is wrong usage", async (argv, message) => {
  const text = await runCli(argv, nowhere);
  expect([text.code, text.out]).toEqual([2, ""]);
  expect(text.err).toMatch(/^owed: /);
  expect(text.err).toContain(message);
  const json = await runCli(["--json", ...argv], nowhere);
  expect([json.code, json.err]).toEqual([2, ""]);
  const { error } = JSON.parse(json.out);
  expect(error.kind).toBe("usage");
  expect(error.message).toContain(message);
});

test("without a command the help is printed, and it is wrong usage", async () => {
  const { code, out, err } = await runCli([], nowhere);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toContain("Usage: owed");
  const json = await runCli(["--json"], nowhere);
  expect(json.code).toBe(2);
  expect(JSON.parse(json.out).error.kind).toBe("usage");
});

test("the actor is the option's, the environment's, or the user's", async () => {
  const { actorOf } = await import("./arguments.ts");
  const program = createProgram({ out: () => {}, err: () => {} }, async () => {});
  expect(actorOf(program, { OWED_ACTOR: "ana" })).toBe("ana");
  expect(actorOf(program, { OWED_ACTOR: " " })).toBe((await import("node:os")).userInfo().username);
  program.setOptionValue("actor", "bea");
  expect(actorOf(program, { OWED_ACTOR: "ana" })).toBe("bea");
});
