import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../../../../tests/hostile/arbitraries.ts";
import { line } from "../text.ts";
import { trackingLink } from "./link.ts";

test.for([
  ["https://t.example/p/{tracking_number}", "RR1", "https://t.example/p/RR1"],
  ["https://t.example/?a=1&n={tracking_number}#x", "R 1&b=2", "https://t.example/?a=1&n=R%201%26b%3D2#x"],
  ["https://t.example/{tracking_number}/{tracking_number}", "1", "https://t.example/1/1"],
  ["https://t.example/{tracking_number}", "../x?y#z", "https://t.example/%2E%2E%2Fx%3Fy%23z"],
  ["https://t.example/{tracking_number}", "A.", "https://t.example/A%2E"],
  ["https://t.example/{tracking_number}", "(!*')", "https://t.example/%28%21%2A%27%29"],
  ["https://t.example/{tracking_number}", "é山", "https://t.example/%C3%A9%E5%B1%B1"],
  ["https://t.example/find", "RR1", "https://t.example/find"],
  ["https://bücher.example/{tracking_number}", "1", "https://xn--bcher-kva.example/1"],
] as const)("%s with %j leads to %s", ([url, number, link]) => {
  expect(trackingLink(url, number)).toBe(link);
});

test.for([
  [null, "RR1"],
  ["", "RR1"],
  ["http://t.example/{tracking_number}", "RR1"],
  ["javascript:alert(1)//{tracking_number}", "RR1"],
  ["//t.example/{tracking_number}", "RR1"],
  ["https://", "RR1"],
  ["https://ana:secret@t.example/{tracking_number}", "RR1"],
  ["https://{tracking_number}/x", "evil"],
  ["https://{tracking_number}.t.example/x", "evil"],
  ["https://t.example{tracking_number}/x", "8"],
  ["https://t.example/{tracking_number}", ""],
  ["https://t.example/{tracking_number}", ".."],
  ["https://t.example/{tracking_number}", "é".repeat(200)],
] as const)("%s with %j leads nowhere", ([url, number]) => {
  expect(trackingLink(url, number)).toBeNull();
});

test("any number stays in its place, and comes back as it was", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const number = line(text, 80);
      const link = trackingLink("https://t.example/p/{tracking_number}?x=1", number);
      if (link === null) {
        expect(number).toMatch(/^\.*$/);
        return;
      }
      expect(link).toMatch(/^https:\/\/t\.example\/p\/[\w~%-]+\?x=1$/);
      const [, , place = ""] = new URL(link).pathname.split("/");
      expect(decodeURIComponent(place)).toBe(number);
    }),
    { numRuns: 300 },
  );
});
