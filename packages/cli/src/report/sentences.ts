import type { Fates, Outage } from "@owed/ledger";
import { duration } from "../text/time.ts";

/** Somebody paused, and nobody's pause stands. */
export const resumed = (pauses: Outage["pauses"]): boolean =>
  pauses.length > 0 && pauses.every(({ resumedAt }) => resumedAt !== null);

/** The end of an outage is not yet the end of what it left behind. */
export function notDrained({ to, pauses, all }: Outage): string[] {
  if (all.stillOwed === 0) return [];
  if (to) return ["Sweeps run again, and it is not drained yet: ask again after the next ones."];
  return resumed(pauses) ? ["The next sweep begins to drain it: ask again after it."] : [];
}

const seconds = (late: number | null): string | null => (late === null ? null : duration(late));

/** What is counted of an outage, in all and by channel. Whole numbers, or durations in words. */
export const fateRows: readonly (readonly [string, (fates: Fates) => string | number | null])[] = [
  ["fell due, or waited", ({ due }) => due],
  ["sent", ({ sent }) => sent],
  ["  more than 1 min late", ({ lateByMinutes }) => lateByMinutes],
  ["  late: p50", ({ late }) => seconds(late.p50)],
  ["  late: p95", ({ late }) => seconds(late.p95)],
  ["  late: max", ({ late }) => seconds(late.max)],
  ["expired", ({ expired }) => expired],
  ["superseded", ({ superseded }) => superseded],
  ["opted out", ({ optedOut }) => optedOut],
  ["suppressed", ({ suppressed }) => suppressed],
  ["erased", ({ erased }) => erased],
  ["cancelled by people", ({ cancelled }) => cancelled],
  ["dead", ({ dead }) => dead],
  ["still owed", ({ stillOwed }) => stillOwed],
  ["unknown at some time", ({ unknown }) => unknown],
  ["perhaps sent twice", ({ perhapsTwice }) => perhapsTwice],
  ["certainly sent twice", ({ twice }) => twice],
];

/** Rows that the old sender was to send, where there are any. */
export function oldSender({ oldSender: { due, sent, cancelled, dead, waiting } }: Outage): string[] {
  if (due === 0) return [];
  return [
    `the old sender's, apart from these: ${due} due, ${sent} sent, ${cancelled} cancelled, ${dead} dead, ${waiting} waiting`,
  ];
}
