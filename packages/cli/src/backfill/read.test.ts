import { expect, test } from "vitest";
import { isTimer, parseTimer } from "./parse-timer.ts";
import { readCsv } from "./read-csv.ts";
import { readJsonLines } from "./read-json-lines.ts";

const fields = {
  timer_id: "t-1",
  merchant_id: "shop-7",
  merchant_name: "Shop Seven",
  shipment_id: "S-1",
  tracking_number: "TRACK1",
  status: "customs_hold",
  occurred_at: "2026-03-29T09:30:00+02:00",
  recipient_id: "buyer-1",
  role: "buyer",
  channel: "email",
  address: "ann@example.com",
  template: "customs_hold.still",
  due_at: "2026-03-30T09:30:00+02:00",
};
const header = Object.keys(fields).join(",");
const line = (changes: Partial<typeof fields> = {}) =>
  Object.values({ ...fields, ...changes })
    .map((value) => `"${value.replaceAll('"', '""')}"`)
    .join(",");

/** The bytes in chunks of so many: a character, or a line break, may be cut anywhere. */
async function* chunksOf(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function all<T>(given: AsyncIterable<T[]>): Promise<T[]> {
  const found: T[] = [];
  for await (const some of given) found.push(...some);
  return found;
}

test.each([1, 7, 4096])(
  "CSV: byte order mark, CRLF, quoted line breaks and empty lines; each record has its line (chunks of %i)",
  async (size) => {
    const text = [
      `\uFEFF${header}`,
      line({ merchant_name: "Käse & Söhne" }),
      line({ merchant_name: 'two\r\nlines, "quoted"' }),
      "",
      `${line()},one too many`,
      line({ timer_id: "last" }),
    ].join("\r\n");
    const records = await all(readCsv(chunksOf(text, size)));
    expect(records).toMatchObject([
      { line: 2, fields: { timer_id: "t-1", merchant_name: "Käse & Söhne" } },
      { line: 3, fields: { merchant_name: 'two\r\nlines, "quoted"' } },
      { line: 6, field: "line", reason: "has another number of fields than the header" },
      { line: 7, fields: { timer_id: "last" } },
    ]);
  },
);

test("CSV: a header without a column that is needed, and a quote that is not closed, end it with their names", async () => {
  await expect(all(readCsv(chunksOf("merchant_id,status\na,b\n", 64)))).rejects.toThrow(
    /header has no merchant_name, shipment_id/,
  );
  await expect(all(readCsv(chunksOf(`${header},status\n`, 64)))).rejects.toThrow(/a column twice: status/);
  const open = `${header}\n${line()}\n"${"x".repeat(100_000)}`;
  const [first, second] = await all(readCsv(chunksOf(open, 4096))).catch((error) => [{ line: 2 }, error]);
  expect(first).toMatchObject({ line: 2 });
  expect(JSON.stringify(second) + String(second)).toMatch(
    /is longer than 64 KiB: is a quote not closed|quote that is not closed/,
  );
});

test.each([1, 4096])(
  "JSON Lines: the same, and what is no object is refused with its line (chunks of %i)",
  async (size) => {
    const text = `\uFEFF${JSON.stringify(fields)}\r\n\n[1]\n{"a":\n${JSON.stringify({ ...fields, name: null, locale: "de-AT", merchant_name: "Käse" })}`;
    const records = await all(readJsonLines(chunksOf(text, size)));
    expect(records).toMatchObject([
      { line: 1, fields },
      { line: 3, field: "line", reason: "is not a JSON object" },
      { line: 4, field: "line" },
      { line: 5, fields: { merchant_name: "Käse" } },
    ]);
    expect(records.map((record) => "fields" in record && isTimer(parseTimer(record)))).toEqual([
      true,
      false,
      false,
      true,
    ]);
  },
);

test.each([7, 100_000])(
  "JSON Lines: of a line of more than 64 KiB no more is kept (chunks of %i)",
  async (size) => {
    const text = `${JSON.stringify(fields)}\n{"a":"${"x".repeat(64 * 1024)}"}\n${JSON.stringify(fields)}\n${"x".repeat(64 * 1024 + 1)}`;
    expect(await all(readJsonLines(chunksOf(text, size)))).toMatchObject([
      { line: 1, fields },
      { line: 2, field: "line", reason: "is longer than 64 KiB" },
      { line: 3, fields },
      { line: 4, field: "line", reason: "is longer than 64 KiB" },
    ]);
  },
);

test("a timer: what is empty or not there is none, and the language is English unless told", () => {
  const parsed = parseTimer({ line: 2, fields: { ...fields, name: "", event_id: "", send_by: "" } });
  expect(parsed).toMatchObject({ name: null, event_id: null, send_by: null, time_zone: null, locale: "en" });
});

test.each<[Record<string, unknown>, field: string, reason: RegExp]>([
  [{ merchant_id: "" }, "merchant_id", /missing/],
  [{ shipment_id: "a b" }, "shipment_id", /1 to 64 characters of/],
  [{ occurred_at: "2026-02-30T09:30:00Z" }, "occurred_at", /a time that exists/],
  [{ due_at: "2026-03-30T09:30:00" }, "due_at", /with its offset/],
  [{ send_by: "tomorrow" }, "send_by", /a time that exists/],
  [{ role: "chef" }, "role", /one of buyer, merchant/],
  [{ address: undefined }, "address", /is missing/],
  [{ address: "secret@example.com\u0007" }, "address", /control characters/],
  [{ name: "M\uFFFDller" }, "name", /not UTF-8/],
  [{ name: "Ann \ud83d" }, "name", /half of a surrogate pair/],
  [{ time_zone: "CET" }, "time_zone", /Europe\/Vienna/],
  [{ locale: "german!" }, "locale", /language tag/],
  [{ channel: 7 }, "channel", /text/],
])("left out, with the field and never its value: %j", (changes, field, reason) => {
  const refusal = parseTimer({ line: 9, fields: { ...fields, ...changes } });
  expect(refusal).toEqual({ line: 9, timer_id: "t-1", field, reason: expect.stringMatching(reason) });
  expect(JSON.stringify(refusal)).not.toContain("secret");
});
