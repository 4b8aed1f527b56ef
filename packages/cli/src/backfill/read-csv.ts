import type { Refusal } from "@owed/ledger";
import { CsvError, parse } from "csv-parse";
import { Failure } from "../errors.ts";
import { columns, type Fields, needed } from "./parse-timer.ts";

/** Bytes of a record: no timer is longer, and what is has a quote, or a line, that does not end. */
export const longest = 64 * 1024;

/**
 * The records of a CSV file with a header, in their order, as its chunks come: RFC 4180, quoted line breaks among it,
 * with or without a byte order mark. A record that can't be read is one that is refused. Throws `refused` for a file
 * that makes no sense from some line on.
 */
export async function* readCsv(chunks: AsyncIterable<Buffer>): AsyncGenerator<(Fields | Refusal)[]> {
  let ready: (Fields | Refusal)[] = [];
  // The parser tells the line that a record ends in, and counts a quoted CRLF as two.
  let double = 0;
  const parser = parse({
    bom: true,
    columns: namesOf,
    skip_empty_lines: true,
    skip_records_with_error: true,
    max_record_size: longest,
    on_record: (fields: Record<string, string>, { lines }) => {
      double += countIn(fields, "\r\n");
      ready.push({ line: lines - double - countIn(fields, "\n"), fields });
      // Nothing goes on into the stream: what is read is taken from here, in order with what was skipped.
      return null;
    },
    on_skip: (error) => {
      const line = error && "lines" in error && typeof error.lines === "number" ? error.lines : 0;
      ready.push({ line: line - double, timer_id: null, field: "line", reason: reasonOf(error) });
      return undefined;
    },
  });
  const failed = new Promise<never>((_, reject) => {
    parser.on("error", (error) => reject(asFailure(error)));
  });
  // It may fail while nobody waits for it; the next step does.
  failed.catch(() => {});
  const step = (work: (done: () => void) => void) =>
    Promise.race([failed, new Promise<void>((done) => work(done))]);
  for await (const chunk of chunks) {
    await step((done) => parser.write(chunk, () => done()));
    const now = ready;
    ready = [];
    if (now.length > 0) yield now;
  }
  parser.resume();
  await step((done) => parser.end(() => done()));
  if (ready.length > 0) yield ready;
}

function namesOf(header: string[]): string[] {
  const names = header.map((name) => name.trim());
  const missing = needed.filter((name) => !names.includes(name));
  if (missing.length > 0)
    throw new Failure(
      "refused",
      `the file's header has no ${missing.join(", ")}; it may have: ${columns.join(", ")}`,
    );
  const twice = names.find((name, place) => names.indexOf(name) !== place);
  if (twice !== undefined) throw new Failure("refused", `the file's header has a column twice: ${twice}`);
  return names;
}

function countIn(fields: Record<string, string>, breaks: string): number {
  let count = 0;
  for (const name in fields) {
    const value = fields[name] ?? "";
    if (value.includes(breaks)) count += value.split(breaks).length - 1;
  }
  return count;
}

const reasons: Record<string, string> = {
  CSV_RECORD_INCONSISTENT_COLUMNS: "has another number of fields than the header",
  CSV_RECORD_INCONSISTENT_FIELDS_LENGTH: "has another number of fields than the header",
  CSV_MAX_RECORD_SIZE: "is longer than 64 KiB: is a quote not closed?",
  CSV_QUOTE_NOT_CLOSED: "has a quote that is not closed",
};

const reasonOf = (error: unknown): string =>
  (error instanceof CsvError ? reasons[error.code] : undefined) ?? "is not CSV: a quote where none may be";

/** The parser's own message would quote the file. */
const asFailure = (error: Error): Error =>
  error instanceof CsvError
    ? new Failure("refused", `line ${"lines" in error ? error.lines : "?"} of the file ${reasonOf(error)}`)
    : error;
