import { expect, test } from "vitest";
import { noticeOf, withNotice } from "./notice.ts";

const read = (to: string, token: string) => {
  const { searchParams: query } = new URL(to, "http://127.0.0.1");
  return noticeOf(query.get("said") ?? undefined, query.get("seal") ?? undefined, token);
};

test.each(["/", "/dead?channel=email", "/#try"])(
  "what was done is said at %s, once it is the console's own word",
  (to) => {
    const there = withNotice(to, "12 are owed again: \u202e<b>", "token");
    expect(read(there, "token")).toBe("12 are owed again: \u202e<b>");
    expect(read(there, "another start")).toBeNull();
    expect(read(there.replace("12", "13"), "token")).toBeNull();
    expect(new URL(there, "http://127.0.0.1").hash).toBe(to === "/#try" ? "#try" : "");
  },
);

test("without a seal, or with one of another length, nothing is said", () => {
  expect([
    noticeOf("x", undefined, "token"),
    noticeOf("x", "", "token"),
    noticeOf(undefined, undefined, "token"),
  ]).toEqual([null, null, null]);
});

test("a long one is cut: it has to fit into an address", () => {
  const there = withNotice("/", "\u20ac".repeat(2000), "token");
  expect(there.length).toBeLessThan(4000);
  expect(read(there, "token")).toMatch(/^\u20ac{300} …$/);
});
