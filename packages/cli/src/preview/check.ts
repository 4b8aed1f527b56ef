import { checkTemplates } from "@owed/channel/templates";
import type { Result } from "../output.ts";
import { table } from "../text/table.ts";
import { plural } from "../text/words.ts";

/** What is wrong in the language files, or missing. */
export function check(found = checkTemplates()): Result {
  const errors = found.filter(({ severity }) => severity === "error").length;
  const warnings = found.length - errors;
  const sum = `${plural(errors, "error")}, ${plural(warnings, "warning")}.`;
  const rows = found.map(({ severity, locale, where, rule, message }) => [
    severity,
    locale,
    where,
    rule,
    message,
  ]);
  return {
    json: { errors, warnings, findings: found },
    lines:
      rows.length === 0 ? [sum] : [...table(["kind", "language", "where", "rule", "what"], rows), "", sum],
    exitCode: errors > 0 ? 1 : 0,
  };
}
