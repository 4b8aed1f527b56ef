import * as v from "valibot";

/** Faults that are named at most; who mends these sees the others. */
const most = 10;

/**
 * What is wrong with configuration that did not fit its schema: each field, and what it must be. The value itself is
 * never quoted, as valibot would: it may be a password.
 *
 * @param whole what the given value as a whole is called
 */
export function namedIssues(issues: readonly v.BaseIssue<unknown>[], whole: string): string {
  return issues
    .slice(0, most)
    .map((issue) => `${printable(v.getDotPath(issue) ?? whole)}: ${faultOf(issue)}`)
    .join("; ");
}

const kinds: Record<string, string> = { url: "a URL", integer: "a whole number" };

function faultOf({ type, expected, received, message }: v.BaseIssue<unknown>): string {
  if (type === "raw_check") return message;
  if (expected === "never") return "is not known";
  if (received === "undefined") return "is missing";
  return `must be ${expected ?? kinds[type] ?? `a valid ${type}`}`;
}

/** A key may be any text. */
const printable = (path: string): string => path.replace(/[^!-~]/gu, "?").slice(0, 80) || '""';
