import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Admission, Endpoints, type Met } from "./endpoints.ts";

let seconds = 0;
const endpoints = (most?: number) => new Endpoints(() => seconds * 1_000, most);

function admitted(admission: Admission): (what: Met) => void {
  if (!("met" in admission)) throw new Error(`It has to wait ${admission.waitSeconds} s.`);
  return admission.met;
}
const call = (all: Endpoints, what: Met, endpoint = "shop") => admitted(all.admit(endpoint))(what);
const wait = (all: Endpoints, endpoint = "shop") => all.admit(endpoint).waitSeconds;

function failing(): Endpoints {
  const all = endpoints();
  for (let failure = 0; failure < 3; failure += 1) call(all, "failed");
  return all;
}

describe("an endpoint that fails", () => {
  test("is called on after two failures, and not for 30 s after three", () => {
    const all = endpoints();
    call(all, "failed");
    call(all, "failed");
    call(all, "failed");
    expect(wait(all)).toBe(30);
    seconds += 29.5;
    expect(wait(all)).toBe(1);
    expect(wait(all, "another")).toBe(0);
  });

  test("is forgiven by any answer", () => {
    const all = endpoints();
    for (const what of ["failed", "failed", "answered", "failed", "failed"] as const) call(all, what);
    call(all, "failed");
    expect(wait(all)).toBe(30);
  });

  test("is probed by one call at a time", () => {
    const all = failing();
    seconds += 30;
    const probe = admitted(all.admit("shop"));
    expect(wait(all)).toBe(30);
    probe("answered");
    expect(wait(all)).toBe(0);
    expect(all.size).toBe(0);
  });

  test("rests twice as long each time, at most 10 min", () => {
    const all = failing();
    for (const pause of [30, 60, 120, 240, 480, 600, 600]) {
      expect(wait(all)).toBe(pause);
      seconds += pause;
      call(all, "failed");
    }
  });

  test("is probed again when a probe told nothing", () => {
    const all = failing();
    seconds += 30;
    call(all, "nothing");
    call(all, "failed");
    expect(wait(all)).toBe(60);
  });

  test("rests no longer for calls that began before", () => {
    const all = endpoints();
    const calls = Array.from({ length: 10 }, () => admitted(all.admit("shop")));
    for (const met of calls) met("failed");
    expect(wait(all)).toBe(30);
  });

  test("is there again when a call that began before is answered late", () => {
    const all = endpoints();
    const late = admitted(all.admit("shop"));
    for (let failure = 0; failure < 3; failure += 1) call(all, "failed");
    seconds += 30;
    const probe = admitted(all.admit("shop"));
    late("answered");
    expect(wait(all)).toBe(0);
    probe("failed");
    expect(wait(all)).toBe(0);
  });
});

describe("an endpoint that asks for time", () => {
  test("gets it, at most 10 min, and is probed then", () => {
    const all = endpoints();
    call(all, { restSeconds: 17 });
    expect(wait(all)).toBe(17);
    seconds += 17;
    call(all, { restSeconds: 86_400 });
    expect(wait(all)).toBe(600);
    seconds += 600;
    call(all, "answered");
    expect(wait(all)).toBe(0);
  });

  test("shortens no rest that it has", () => {
    const all = endpoints();
    const late = admitted(all.admit("shop"));
    call(all, { restSeconds: 100 });
    late({ restSeconds: 1 });
    expect(wait(all)).toBe(100);
  });
});

test("only so many are remembered: those that were in trouble last", () => {
  const all = endpoints(3);
  for (const endpoint of ["a", "b", "c", "a", "d"]) call(all, { restSeconds: 0 }, endpoint);
  for (const endpoint of ["e", "f"]) call(all, "answered", endpoint);
  expect(all.size).toBe(3);
  const probed = ["a", "b", "c", "d"].map((endpoint) => [endpoint, wait(all, endpoint), wait(all, endpoint)]);
  expect(probed, "of those that it knows, one call at a time").toEqual([
    ["a", 0, 30],
    ["b", 0, 0],
    ["c", 0, 30],
    ["d", 0, 30],
  ]);
});

test("whatever it meets: it rests at most 10 min, is probed by one call at a time, and is back at once when it answers", () => {
  const met = fc.constantFrom<Met>(
    "answered",
    "failed",
    "failed",
    "failed",
    "nothing",
    { restSeconds: 50 },
    { restSeconds: 9_999 },
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(met, fc.nat(700)), { maxLength: 40 }), (story) => {
      const all = endpoints();
      let failures = 0;
      for (const [what, pass] of story) {
        const admission = all.admit("shop");
        if ("met" in admission) {
          admission.met(what);
          failures = what === "answered" ? 0 : failures + 1;
          if (what === "answered") expect(all.size).toBe(0);
        } else {
          expect(admission.waitSeconds).toBeGreaterThan(0);
          expect(admission.waitSeconds).toBeLessThanOrEqual(600);
          expect(failures, "it is for a reason that it waits").toBeGreaterThan(0);
        }
        seconds += pass;
      }
      seconds += 600;
      call(all, "answered");
      expect(wait(all)).toBe(0);
    }),
    { numRuns: 500 },
  );
});
