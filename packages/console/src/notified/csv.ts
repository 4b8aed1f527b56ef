import { stringify } from "csv-stringify/sync";

/** A CSV file by RFC 4180, with a header; no cell is a formula to a spreadsheet. */
export const csv = <Row>(
  columns: Record<string, (row: Row) => string | number | Date | null>,
  rows: readonly Row[],
): string =>
  stringify([Object.keys(columns), ...rows.map((row) => Object.values(columns).map((of) => of(row)))], {
    cast: { date: (value) => value.toISOString() },
    escape_formulas: true,
    // Alone it ends no record here; elsewhere it may.
    quoted_match: /\r/,
    record_delimiter: "windows",
  });
