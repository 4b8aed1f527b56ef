import type { History, RuleVersion } from "@owed/ledger";
import { expect, test } from "vitest";
import { at, delivered } from "../answer-testing.ts";
import { ruleBehind } from "./rule-behind.ts";

const history: History = { ...delivered(), recordedAt: at("10:00:00"), onUnknown: "resend", tries: [] };

const rule = (changes: Partial<RuleVersion>): RuleVersion => ({
  ...{ id: "1", merchantId: null, status: "customs_hold", role: "buyer", channel: "email" },
  ...{ template: "customs_hold", delay: 0, atTime: null, sendWithin: null, onlyWhileCurrent: false },
  ...{ newestReplaces: false, onUnknown: "resend", silent: false, version: 2, active: true },
  ...{ setAt: at("08:00:00"), setBy: "ana", setWhy: "a test" },
  ...{ retiredAt: null, retiredBy: null, retiredWhy: null },
  ...changes,
});

const behind = (...rules: Partial<RuleVersion>[]) =>
  ruleBehind(history, "shop-1", rules.map(rule))?.id ?? null;

test("the version that counted when the event was recorded", () => {
  const before = { id: "1", version: 1, setAt: at("07:00:00"), retiredAt: at("08:00:00") };
  const after = { id: "3", version: 3, setAt: at("10:00:01") };
  expect(behind(after, { id: "2", retiredAt: at("10:00:01"), active: false }, before)).toBe("2");
  expect(behind(before, after)).toBe(null);
});

test("the merchant's own before a default one, and nobody else's", () => {
  expect(behind({ id: "1" }, { id: "2", merchantId: "shop-1" })).toBe("2");
  expect(behind({ id: "1", merchantId: "shop-2" })).toBe(null);
});

test("what a new ledger begins with counted before rules had a time", () => {
  expect(behind({ version: 1, setBy: "owed", setAt: at("11:00:00") })).toBe("1");
  expect(behind({ version: 1, setBy: "ana", setAt: at("11:00:00") })).toBe(null);
});

test.each<Partial<RuleVersion>>([
  { status: "picked_up" },
  { role: "agent" },
  { channel: "sms" },
  { template: "another" },
])("none that differs: %j", (changes) => {
  expect(behind(changes)).toBe(null);
});
