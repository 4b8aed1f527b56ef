import { beforeAll, describe, expect, test } from "vitest";
import { settingsOf } from "../../infra/settings.ts";
import { givenOf } from "../../infra/stages.ts";
import { changed } from "./mistakes/change.ts";
import { changeMistakes } from "./mistakes/changes/index.ts";
import { mistakes } from "./mistakes/index.ts";
import type { Mistake } from "./mistakes/mistake.ts";
import { typeErrors } from "./mistakes/type-errors.ts";
import { rules } from "./rules/index.ts";
import type { Rule } from "./rules/rule.ts";
import type { Stack } from "./stack/stack.ts";
import { withSender } from "./synth/sender.ts";
import { Tree } from "./synth/tree.ts";
import { synthesise } from "./synthesise.ts";
import { everyChannel } from "./variants.ts";

const of = <Kind extends string>(kind: Kind) =>
  mistakes.filter((mistake): mistake is Extract<Mistake, Record<Kind, unknown>> => kind in mistake);

function ruleNamed(name: string): Rule {
  const rule = rules.find((one) => one.name === name);
  if (rule) return rule;
  throw new Error(`no rule is called: ${name}`);
}

/** The program with the mistake in it. */
async function synthesiseWith({ edits = [], stage = "production", dev = false, settings = {} }: Mistake) {
  using tree = new Tree();
  for (const [file, text, instead] of edits) tree.edit(`infra/${file}`, text, instead);
  return await synthesise({ stage, dev, settings, root: tree.root });
}

describe.concurrent("caught by a rule", () => {
  test.each(of("rule"))("$name: $rule", async ({ rule: name, ...mistake }) => {
    const rule = ruleNamed(name);
    const stack = await synthesiseWith({ rule: name, ...mistake });
    expect(rule.check(stack)).not.toEqual([]);
  });
});

describe("caught by a rule, in what is deployed", () => {
  let stacks: Record<"production" | "dev" | "every channel", Stack>;
  beforeAll(async () => {
    const [production, dev, channels] = await Promise.all([
      synthesise({ stage: "production" }),
      synthesise({ stage: "dev", dev: true }),
      synthesise({ stage: "production", settings: everyChannel }),
    ]);
    stacks = { production, dev, "every channel": channels };
  });

  test.each(changeMistakes)("$changes.0.0: $rule", ({ rule: name, changes, in: of }) => {
    const rule = ruleNamed(name);
    const stack = stacks[of ?? "production"];
    expect(rule.check(stack)).toEqual([]);
    expect(rule.check(changed(stack, changes))).not.toEqual([]);
  });
});

test("every rule notices a mistake", () => {
  const noticed = new Set([...of("rule"), ...changeMistakes].map(({ rule }) => rule));
  expect(rules.map(({ name }) => name).filter((name) => !noticed.has(name))).toEqual([]);
});

describe.concurrent("caught by the synthesis", () => {
  test.each(of("synthesis"))("$name", async (mistake) => {
    await expect(synthesiseWith(mistake)).rejects.toThrow(mistake.synthesis);
  });
});

describe("caught by the types", () => {
  let errors: Map<string, string>;
  beforeAll(async () => {
    const edited = of("types").map(({ name, edits = [] }) => ({ name, edits }));
    errors = await typeErrors([{ name: "as it is", edits: [] }, ...edited]);
  });

  test("the program as it is has no type error", () => {
    expect(errors.get("as it is")).toBe("");
  });

  test.each(of("types"))("$name", ({ name, types }) => {
    expect(errors.get(name)).toMatch(types);
  });
});

describe("caught by the settings", () => {
  test.each(of("settingsError"))("$name", ({ stage = "production", settings = {}, settingsError }) => {
    const overrides = JSON.stringify(withSender(settings));
    expect(() => settingsOf(stage, givenOf(stage), overrides)).toThrow(settingsError);
  });
});
