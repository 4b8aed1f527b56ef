import type { Refusal } from "@owed/ledger";
import type { Fields } from "./parse-timer.ts";

/** The records of a file of JSON Lines, in their order, as its chunks come; blank lines are none. */
export async function* readJsonLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<(Fields | Refusal)[]> {
  const decoder = new TextDecoder();
  let line = 0;
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    const read = lines.flatMap((text) => readLine(text, ++line));
    if (read.length > 0) yield read;
  }
  const last = readLine(rest + decoder.decode(), line + 1);
  if (last.length > 0) yield last;
}

function readLine(text: string, line: number): (Fields | Refusal)[] {
  if (text.trim() === "") return [];
  const fields = toObject(text);
  return [
    fields ? { line, fields } : { line, timer_id: null, field: "line", reason: "is not a JSON object" },
  ];
}

function toObject(text: string): Record<string, unknown> | null {
  try {
    const given: unknown = JSON.parse(text);
    return typeof given === "object" && given !== null && !Array.isArray(given) ? { ...given } : null;
  } catch {
    return null;
  }
}
