import { expect, test } from "vitest";
import { createLogger, toError } from "./observe.ts";
import { captureOutput } from "./testing/output.ts";

test("of an error what it says is logged, not what else it carries", () => {
  const cause = Object.assign(new Error("new row violates a constraint"), {
    name: "PostgresError",
    code: "23514",
    detail: "Failing row contains (…, ana@example.org, …).",
  });
  const error = Object.assign(new TypeError("the record failed", { cause }), { sentTo: "ana@example.org" });
  const output = captureOutput();
  createLogger("test").error("held", toError(error));
  createLogger("test").error("held", { error: toError(error) });
  output.restore();
  expect(output.lines()).toHaveLength(2);
  for (const line of output.lines())
    expect(line).toMatchObject({
      level: "ERROR",
      service: "test",
      message: "held",
      error: {
        name: "TypeError",
        message: "the record failed",
        stack: expect.stringContaining("observe.test.ts"),
        cause: { name: "PostgresError", message: "new row violates a constraint", code: "23514" },
      },
    });
  expect(output.text()).not.toContain("ana@example.org");
});

test("whatever is thrown can be logged", () => {
  for (const thrown of [null, undefined, "text", 7, Symbol("s"), { a: 1 }])
    expect(toError(thrown)).toBeInstanceOf(Error);
});
