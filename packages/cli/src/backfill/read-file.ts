import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Refusal } from "@owed/ledger";
import { Failure, messageOf } from "../errors.ts";
import type { Fields } from "./parse-timer.ts";
import { readCsv } from "./read-csv.ts";
import { readJsonLines } from "./read-json-lines.ts";

export const formats = ["csv", "jsonl"] as const;
export type Format = (typeof formats)[number];

/** The format that a file's name tells. Throws `usage` when it tells none. */
export function formatOf(path: string): Format {
  if (/\.csv$/i.test(path)) return "csv";
  if (/\.(jsonl|ndjson)$/i.test(path)) return "jsonl";
  throw new Failure("usage", "the file's name tells no format: say --format csv or --format jsonl");
}

/** A file's size in bytes, and the SHA-256 of its content. Throws `usage` when it can't be read. */
export async function weigh(path: string): Promise<{ size: number; digest: string }> {
  try {
    const { size } = await stat(path);
    const hash = createHash("sha256");
    for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) hash.update(chunk);
    return { size, digest: hash.digest("hex") };
  } catch (error) {
    throw new Failure("usage", `the file can't be read (${messageOf(error)})`);
  }
}

/** The records of a file, a few hundred at a time; `onRead` is told how many bytes have been read. */
export async function* readFile(
  path: string,
  format: Format,
  onRead: (bytes: number) => void,
): AsyncGenerator<(Fields | Refusal)[]> {
  async function* chunks(): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
      yield chunk;
      bytes += chunk.length;
      onRead(bytes);
    }
  }
  yield* format === "csv" ? readCsv(chunks()) : readJsonLines(chunks());
}
