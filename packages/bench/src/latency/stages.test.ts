import { expect, test } from "vitest";
import { spent, stages, type Way } from "./stages.ts";

const way: Way = {
  ...{ put: 1000, inEventQueue: 1002, atIngest: 1005, inNotificationQueue: 1030 },
  ...{ atDeliver: 1034, claimed: 1036, accepted: 1049, delivered: 1080 },
};

test("the stages up to the acceptance follow each other, and leave no time out", () => {
  const whole = stages.findIndex(({ name }) => name === "event to acceptance");
  const parts = stages.slice(0, whole);
  for (const [place, { from }] of parts.entries()) expect(from).toBe(parts[place - 1]?.to ?? "put");
  const sum = parts.reduce((total, stage) => total + (spent([way], stage)[0] ?? Number.NaN), 0);
  expect([sum]).toEqual(spent([way], stages[whole] ?? { name: "", from: "put", to: "put" }));
  expect(sum).toBe(49);
});

test("what is written after the acceptance is a stage of its own", () => {
  expect(stages.at(-1)).toMatchObject({ from: "accepted", to: "delivered" });
});
