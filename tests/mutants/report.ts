import type { Judged, Mutant } from "./mutant.ts";

export type Report = {
  ok: boolean;
  mutants: number;
  caught: number;
  /** Caught since a test did not come to its end. */
  hung: number;
  survived: string[];
  invalid: { id: string; why: string }[];
  /** Left out, with their reasons in equivalent.ts. */
  equivalent: number;
  /** Named in equivalent.ts, and there is no such mutant any more. */
  stale: string[];
  seconds: number;
  table: { id: string; of: string; result: string; file: string; test: string; ms: number }[];
};

/** What a run found; it is ok when every mutant was caught, and every reason still has its mutant. */
export function report(
  mutants: readonly Mutant[],
  judged: readonly Judged[],
  { equivalent, stale, seconds }: Pick<Report, "equivalent" | "stale" | "seconds">,
): Report {
  const of = new Map(mutants.map((mutant) => [mutant.id, mutant.of]));
  const survived = judged.filter(({ verdict }) => verdict.result === "survived").map(({ id }) => id);
  const invalid = judged.flatMap(({ id, verdict }) =>
    verdict.result === "invalid" ? [{ id, why: verdict.why }] : [],
  );
  /** Nothing ended it, no test's own limit either. */
  const silent = judged.filter(({ verdict }) => verdict.result === "hung" && verdict.by.file === "").length;
  const count = (result: string) => judged.filter(({ verdict }) => verdict.result === result).length;
  return {
    ok: survived.length + invalid.length + stale.length + silent === 0 && judged.length > 0,
    mutants: judged.length,
    caught: count("caught"),
    hung: count("hung"),
    survived,
    invalid,
    equivalent,
    stale,
    seconds,
    table: judged.map(({ id, verdict, ms }) => ({
      id,
      of: of.get(id) ?? "",
      result: verdict.result,
      file: "by" in verdict ? verdict.by.file : "",
      test: "by" in verdict ? verdict.by.test : "",
      ms,
    })),
  };
}

/** For people: each mutant with the test that caught it, the sums by place, and what is left to do. */
export function print({ table, survived, invalid, stale, ...sums }: Report): string {
  const lines = table.map(
    ({ id, result, file, test, ms }) =>
      `${result.padEnd(8)} ${String(ms).padStart(6)} ms  ${id}${file && `\n${" ".repeat(20)}${file} > ${test}`}`,
  );
  const places = [...Map.groupBy(table, ({ of }) => of)].map(([of, rows]) => {
    const caught = rows.filter(({ result }) => result === "caught" || result === "hung").length;
    return `| ${of} | ${rows.length} | ${caught} |`;
  });
  return [
    ...lines,
    "",
    "| of | mutants | caught |",
    "|---|---|---|",
    ...places,
    "",
    ...survived.map((id) => `survived: ${id}`),
    ...invalid.map(({ id, why }) => `invalid: ${id}: ${why}`),
    ...stale.map((id) => `equivalent.ts names what is no mutant any more: ${id}`),
    `${sums.mutants} mutants: ${sums.caught} caught, ${sums.hung} by a test that hung, ${survived.length} survived, ${invalid.length} invalid; ${sums.equivalent} left out as equivalent; ${sums.seconds} s`,
  ].join("\n");
}
