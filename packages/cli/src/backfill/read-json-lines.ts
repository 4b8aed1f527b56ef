import type { Refusal } from "@owed/ledger";
import type { Fields } from "./parse-timer.ts";
import { longest } from "./read-csv.ts";

const newline = 0x0a;

/**
 * The records of a file of JSON Lines, in their order, as its chunks come; blank lines are none. Of a line that is longer
 * than a record may be no more is kept.
 */
export async function* readJsonLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<(Fields | Refusal)[]> {
  const decoder = new TextDecoder();
  let line = 0;
  let parts: Buffer[] = [];
  let length = 0;
  const add = (part: Buffer) => {
    length += part.length;
    if (length > longest) parts = [];
    else parts.push(part);
  };
  const end = (): (Fields | Refusal)[] => {
    line += 1;
    const whole = length > longest ? null : decoder.decode(Buffer.concat(parts));
    parts = [];
    length = 0;
    return whole === null ? [refused(line, "is longer than 64 KiB")] : readLine(whole, line);
  };
  for await (const chunk of chunks) {
    const read: (Fields | Refusal)[] = [];
    let from = 0;
    for (let to = chunk.indexOf(newline); to !== -1; to = chunk.indexOf(newline, from)) {
      add(chunk.subarray(from, to));
      read.push(...end());
      from = to + 1;
    }
    add(chunk.subarray(from));
    if (read.length > 0) yield read;
  }
  const last = end();
  if (last.length > 0) yield last;
}

const refused = (line: number, reason: string): Refusal => ({ line, timer_id: null, field: "line", reason });

function readLine(text: string, line: number): (Fields | Refusal)[] {
  if (text.trim() === "") return [];
  const fields = toObject(text);
  return [fields ? { line, fields } : refused(line, "is not a JSON object")];
}

function toObject(text: string): Record<string, unknown> | null {
  try {
    const given: unknown = JSON.parse(text);
    return typeof given === "object" && given !== null && !Array.isArray(given) ? { ...given } : null;
  } catch {
    return null;
  }
}
