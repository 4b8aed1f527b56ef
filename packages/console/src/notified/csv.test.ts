import { expect, test } from "vitest";
import { csv } from "./csv.ts";

const columns = { name: (row: { value: string | number | Date | null }) => row.value };
const file = (...values: (string | number | Date | null)[]) =>
  csv(
    columns,
    values.map((value) => ({ value })),
  );

test("RFC 4180: a header, CRLF, quotes where they are needed and doubled", () => {
  expect(file("plain", 'say "hi"', "a,b", "a\r\nb", 3, null, new Date("2026-03-29T09:00:00Z"))).toBe(
    'name\r\nplain\r\n"say ""hi"""\r\n"a,b"\r\n"a\r\nb"\r\n3\r\n\r\n2026-03-29T09:00:00.000Z\r\n',
  );
});

test.each([
  ["=1+1", "'=1+1"],
  ["+12025550143", "'+12025550143"],
  ["-1", "'-1"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\t=1", "'\t=1"],
  ["\r=1", `"'\r=1"`],
  ['=HYPERLINK("http://evil.example","x")', `"'=HYPERLINK(""http://evil.example"",""x"")"`],
])("%j is no formula to a spreadsheet", (value, cell) => {
  expect(file(value)).toBe(`name\r\n${cell}\r\n`);
});

test("a cell with one of these within is left as it is", () => {
  expect(file("a=b", "ann@example.com", "x-1")).toBe("name\r\na=b\r\nann@example.com\r\nx-1\r\n");
});
