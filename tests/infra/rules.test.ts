import { beforeAll, describe, expect, test } from "vitest";
import { rules } from "./rules/index.ts";
import { writtenMetrics } from "./rules/written-metrics.ts";
import type { Stack } from "./stack/stack.ts";
import { synthesise } from "./synthesise.ts";
import { variants } from "./variants.ts";

const stacks = new Map<string, Stack>();
beforeAll(async () => {
  await Promise.all(variants.map(async (variant) => stacks.set(variant.title, await synthesise(variant))));
});

function stackOf(title: string): Stack {
  const stack = stacks.get(title);
  if (!stack) throw new Error(`there is no synthesis of ${title}`);
  return stack;
}

describe.each(variants)("$title", ({ title }) => {
  test.each(rules)("$name", ({ check }) => {
    expect(check(stackOf(title))).toEqual([]);
  });
});

/** What a diff shows when a resource is lost or comes to be. SST adds a `LinkRef` to whatever can be linked. */
const inventory = ({ resources }: Stack): string =>
  resources
    .filter(({ type }) => !["pulumi:pulumi:Stack", "sst:sst:LinkRef"].includes(type))
    .map(({ type, name }) => `${type} ${name}\n`)
    .toSorted()
    .join("");

test.each(["production", "staging", "dev", "production with every channel and a larger account"])(
  "%s loses no resource",
  async (title) => {
    await expect(inventory(stackOf(title))).toMatchFileSnapshot(`inventory/${title}.txt`);
  },
);

test("staging is production in small: it has the same resources", () => {
  expect(inventory(stackOf("staging"))).toBe(inventory(stackOf("production")));
});

test("the rules have names of their own", () => {
  const names = rules.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});

test("the metrics that the functions write are found in their sources", () => {
  expect(Object.fromEntries(writtenMetrics)).toMatchObject({
    ingest: new Set([
      ...["messages", "recorded", "repeated", "refused", "notifications", "postponed"],
      ...["published", "failed"],
    ]),
    feedback: expect.objectContaining({ size: 10 }),
  });
  expect([...(writtenMetrics.get("sweep") ?? [])]).toEqual(
    expect.arrayContaining([
      "sweeps",
      "owed",
      "oldestOwedAge",
      "timeToDrain",
      "unknown",
      "paused",
      "held",
      "shadowed",
    ]),
  );
  expect([...(writtenMetrics.get("deliver") ?? [])]).toEqual(
    expect.arrayContaining([
      "accepted",
      "refused",
      "throttled",
      "transient",
      "unknown",
      "unrecorded",
      "closed",
    ]),
  );
});
