import Table from "cli-table3";
import { printable } from "./printable.ts";

const plain = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
};

/** A table's lines: no borders, no colours, each cell on one line, so that `grep` and `awk` work on it. */
export function table(
  head: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string[] {
  const built = new Table({
    head: [...head],
    chars: plain,
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
  });
  for (const row of rows) built.push(row.map((cell) => printable(String(cell ?? "-")) || "-"));
  return built
    .toString()
    .split("\n")
    .map((line) => line.trimEnd());
}
