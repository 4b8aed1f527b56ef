import { expect, test } from "vitest";
import { run } from "./command.ts";

/** What a command line that starts nothing printed, and its exit code. */
async function print(...argv: string[]) {
  const printed = { out: "", err: "" };
  const code = await run(argv, {
    out: (text) => {
      printed.out += text;
    },
    err: (text) => {
      printed.err += text;
    },
    stopped: Promise.resolve(),
  });
  return { code, ...printed };
}

test("the help says what is read and what is written", async () => {
  const { code, out, err } = await print("--help");
  expect([code, err]).toEqual([0, ""]);
  for (const part of ["--stage", "--port", "--write", "--actor", "sst shell --stage production"])
    expect(out).toContain(part);
});

test("a wrong command line is told in a line", async () => {
  for (const [argv, said] of [
    [["--writes"], "unknown option '--writes'"],
    [["--port", "x"], "It must be a port from 0 to 65535"],
    [["--port", "70000"], "It must be a port from 0 to 65535"],
    [["--actor", "a".repeat(101)], "who does this?"],
    [["now"], "too many arguments"],
  ] as const) {
    const { code, out, err } = await print(...argv);
    expect([code, out], argv.join(" ")).toEqual([2, ""]);
    expect(err).toMatch(/^console: /);
    expect(err).toContain(said);
  }
});
