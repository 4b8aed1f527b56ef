import { Command, InvalidArgumentError } from "commander";
import { expect, test } from "vitest";
import { anyText, cost, fc, longTexts, tally } from "../../../tests/hostile/arbitraries.ts";
import { actorOf, instant, limit, notificationId, notificationIds, refusedIds, text } from "./arguments.ts";
import { Failure } from "./errors.ts";
import { runCli } from "./testing.ts";

const id = "0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001";
const lookAlikes = fc.constantFrom(
  ...[
    id,
    ` ${id}\u00a0`,
    id.toUpperCase(),
    `${id}\u200b`,
    `{${id}}`,
    id.replaceAll("-", "−"),
    id.replace("0", "０"),
    `${id}\0`,
    `${id}'--`,
  ],
  ...[
    "1",
    "017",
    "1e3",
    "١",
    "-1",
    "+1",
    "0x10",
    "9".repeat(18),
    "9".repeat(19),
    "1\n",
    "1,000",
    "0",
    "000000000001",
  ],
  // Enough that exist for some of them to be among some hundred.
  ...[
    "2026-03-29T09:30:00+02:00",
    "2026-03-29t09:30:00z",
    "1970-01-01T00:00:00Z",
    "2026-12-31T23:59:59.999-11:30",
  ],
  ...["2026-03-29T09:30:00", "yesterday", "2026-02-30T00:00:00Z"],
);
const given = fc.oneof(lookAlikes, anyText);

const parsers = {
  id: { parse: notificationId, is: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/ },
  ids: { parse: (value: string) => notificationIds(value, [id]).at(-1) ?? "", is: /^[0-9a-f-]{36}$/ },
  refused: { parse: (value: string) => refusedIds(value, ["1"]).at(-1) ?? "", is: /^[1-9]\d{0,17}$/ },
  instant: { parse: instant, is: /^[0-9TtZz:.+-]{20,35}$/ },
  limit: { parse: (value: string) => String(limit(1_000)(value)), is: /^([1-9]\d{0,2}|1000)$/ },
  text: { parse: text, is: /^\S.{0,999}$/s },
};

test.for(Object.entries(parsers))(
  "any argument is one for %s, or refused without a word of it",
  ([, { parse, is }]) => {
    const seen = tally("taken", "refused");
    fc.assert(
      fc.property(given, (value) => {
        try {
          expect(parse(value)).toMatch(is);
          seen.count("taken");
        } catch (error) {
          if (!(error instanceof InvalidArgumentError)) throw error;
          seen.count("refused");
          expect(error.message).toMatch(/^[ -~]{10,150}$/);
        }
      }),
      { numRuns: 400 },
    );
    expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(2);
  },
);

test("whoever acts has a name that fits one line of the record, or is asked for one", () => {
  fc.assert(
    fc.property(
      fc.option(anyText, { nil: undefined }),
      fc.option(anyText, { nil: undefined }),
      (actor, inEnvironment) => {
        const command = new Command("owed").option("--actor <name>");
        if (actor !== undefined) command.setOptionValue("actor", actor);
        try {
          const name = actorOf(command, { OWED_ACTOR: inEnvironment });
          expect(name).toMatch(/^[^\p{Cc}]{1,100}$/u);
          expect(name).toBe(name.trim());
        } catch (error) {
          if (!(error instanceof Failure)) throw error;
          expect(error).toMatchObject({ kind: "usage" });
        }
      },
    ),
    { numRuns: 400 },
  );
});

const words = [
  "audit",
  "dead",
  "redrive",
  "refused",
  "show",
  "lift",
  "event",
  "status",
  "help",
  "--json",
  "--shipment",
  "--limit",
  "--why",
  "--retry",
  "--all",
  "--queue",
  "--channel",
  "--actor",
  "--",
  "-",
  "--no-json",
  "--shipment=x",
  "-h",
];

test("any command line ends in help, in usage, or at the door of the ledger: with an exit code and safe output", async () => {
  const opened = new Failure("unavailable", "the test has no ledger");
  const any = fc.array(
    fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...words) }, { weight: 1, arbitrary: given }),
    { maxLength: 6 },
  );
  // Few of them would be right by chance.
  const right = fc.constantFrom<string[]>(
    ["status"],
    ["dead", "--limit", "3"],
    ["audit", "--shipment", "S-1", "--json"],
  );
  const line = fc.oneof({ weight: 9, arbitrary: any }, { weight: 1, arbitrary: right });
  const seen = tally("0", "1", "2");
  await fc.assert(
    fc.asyncProperty(line, async (argv) => {
      const { code, out, err } = await runCli(argv, () => Promise.reject(opened));
      if (code !== 0 && code !== 1 && code !== 2) throw new Error(`exit code ${code}`);
      seen.count(`${code}`);
      expect(out + err).not.toMatch(/(?!\n)[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u);
      if (!argv.includes("--json") || code === 0) return;
      expect(JSON.parse(out)).toEqual({
        error: { kind: code === 1 ? "unavailable" : "usage", message: expect.any(String) },
      });
    }),
    { numRuns: 400 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(2);
});

test("a long argument is refused at once", () => {
  for (const long of longTexts())
    for (const { parse } of Object.values(parsers))
      expect(
        cost(() => expect(() => parse(long)).toThrow(/^[ -~]{10,150}$/)),
        long.slice(0, 4),
      ).toBeLessThan(200);
});
