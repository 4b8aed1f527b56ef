import { expect, test } from "vitest";
import { apply } from "../change.ts";
import { changesOfTypeScript } from "./changes.ts";

const mutants = (source: string) => changesOfTypeScript(source).map((change) => apply(source, change).trim());

test("a message is acknowledged instead of failed, and the other way round", () => {
  expect(
    mutants('import { acknowledge } from "a";\nset(record, acknowledge);\nset(record, failAfter(a(1)));\n'),
  ).toEqual([
    'import { acknowledge } from "a";\nset(record, failAfter(0));\nset(record, failAfter(a(1)));',
    'import { acknowledge } from "a";\nset(record, acknowledge);\nset(record, acknowledge);',
  ]);
});

test("a case is never met", () => {
  expect(mutants('    case "accepted":\n')).toEqual(['case "\\0":']);
});

test("an if never holds, or when it should not, and its comparison moves by one step", () => {
  expect(mutants("if (f(a) >= b) return;")).toEqual([
    "if (false) return;",
    "if (!(f(a) >= b)) return;",
    "if (f(a) > b) return;",
  ]);
});

test("one side of an operator is left", () => {
  expect(mutants("return a.b && !(c || d) ? 1 : 2;")).toEqual([
    "return !(c || d) ? 1 : 2;",
    "return a.b ? 1 : 2;",
    "return a.b && !(d) ? 1 : 2;",
    "return a.b && !(c) ? 1 : 2;",
  ]);
});

test("an assignment is dropped, and one of two limits", () => {
  expect(mutants("  seen.failures += 1;")).toEqual([";"]);
  expect(mutants("f(Math.min(a(b, c), d));")).toEqual(["f(a(b, c));", "f((d));"]);
});

test("comments, strings and templates are left alone", () => {
  const template = ["`if (a) $", "{c && d}`"].join("");
  expect(mutants(`// if (a) && b\nconst text = "if (a) && b" + ${template};`)).toEqual([]);
});

test("is told by the function that it stands in", () => {
  const source =
    "function decide(\n  a: string,\n): void {\n  if (a) b();\n}\n\nconst other = (c: string) => c ?? d;\n";
  expect(changesOfTypeScript(source).map(({ place, what }) => `${place}: ${what}`)).toEqual([
    'decide: never if "a"',
    'decide: if not "a"',
    'other: only the right of "c ?? d"',
    'other: only the left of "c ?? d"',
  ]);
});
