import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { anyValue, isPlainReason, mutated, tally } from "../../../tests/hostile/arbitraries.ts";
import { InvalidResource, ledgerOptions, resource } from "./resources.ts";

const linked = vi.hoisted((): Record<string, unknown> => ({}));
vi.mock("sst/resource", () => ({ Resource: linked }));

const seen = tally("resource", "refused");

const secret = "c0rrect-h0rse";
const password = fc.constantFrom<unknown>(secret, 7_318_008, [secret], { value: secret }, null);
const url = fc.constantFrom(
  "http://127.0.0.1:4566/000000000000/event",
  `https://user:${secret}@sqs.example/q.fifo`,
  `x ${secret}`,
);

const shapes = {
  Database: fc.record({
    ...{
      host: fc.constant("db.internal"),
      port: fc.constant(5432),
      database: fc.constant("owed"),
      region: fc.constant("eu-central-1"),
      username: fc.constant("u"),
      password,
    },
    auth: fc.constantFrom("password", "iam", secret),
    tls: fc.constantFrom("verify", "off", secret),
  }),
  MasterSecret: fc.record({
    arn: fc.constantFrom<unknown>("arn:aws:secretsmanager:eu-central-1:1:secret:m", 7_318_008),
  }),
  EventQueue: fc.record({ url }),
  EventDlq: fc.record({ url, arn: fc.constant("arn:aws:sqs:us-east-1:000000000000:event-dlq") }),
  Email: fc.record({
    sender: fc.constant("updates@owed.example"),
    configurationSet: fc.constantFrom(null, undefined, "owed"),
  }),
};

test("any linked resource has its shape, or is refused by name without a word of what stands in it", () => {
  const names = Object.keys(shapes) as (keyof typeof shapes)[];
  const link = fc
    .constantFrom(...names)
    .chain((name) =>
      fc.tuple(
        fc.constant(name),
        fc.oneof({ weight: 9, arbitrary: mutated(shapes[name]) }, { weight: 1, arbitrary: anyValue }),
      ),
    );
  fc.assert(
    fc.property(link, ([name, given]) => {
      linked[name] = given;
      try {
        const parsed = resource(name);
        seen.count("resource");
        expect(resource(name)).toEqual(parsed);
        if ("url" in parsed) expect(URL.canParse(parsed.url)).toBe(true);
        if ("port" in parsed)
          expect(parsed.port > 0 && parsed.port < 2 ** 16 && parsed.port % 1 === 0).toBe(true);
      } catch (error) {
        if (!(error instanceof InvalidResource)) throw error;
        seen.count("refused");
        expect(error.message).toMatch(
          new RegExp(
            `^the linked resource ${name} is not as expected \\(.+\\); link it, or set SST_RESOURCE_${name}$`,
          ),
        );
        expect(error.message).not.toMatch(/c0rrect|7318008/);
        expect(isPlainReason(error.message, 800), error.message).toBe(true);
      }
    }),
    { numRuns: 1_500 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(100);
});

test("a password of another type stays out of the message", () => {
  const database = { host: "db", port: 5432, database: "owed", auth: "password", username: "u" };
  linked.Database = { ...database, password: 7_318_008 };
  expect(() => resource("Database")).toThrow(/Database is not as expected \(password: must be string\)/);
});

test("with IAM a function logs in as its own role, with a token for a password, and by TLS alone", () => {
  const iam = { host: "db", port: 5432, database: "owed", auth: "iam", region: "eu-central-1" };
  linked.Database = { ...iam, tls: "verify" };
  expect(ledgerOptions("deliver", 5)).toEqual({
    ...{ host: "db", port: 5432, database: "owed", tls: "verify", user: "owed_deliver" },
    ...{
      applicationName: "owed-deliver",
      connections: 2,
      deadline: 5,
      plans: "generic",
      password: expect.any(Function),
    },
  });
  linked.Database = { ...iam, tls: "off" };
  expect(() => resource("Database")).toThrow(/Database is not as expected \(tls: must be "verify"\)/);
});
