import { seededRandom } from "@owed/local/random";
import type { Cloud } from "../with-cloud.ts";
import { type Case, type Fate, fateOf, type Moment, tabulate } from "./classify.ts";
import { type Killer, killWorkers, type Victim } from "./kill.ts";
import { recover } from "./recover.ts";
import { readRows } from "./rows.ts";
import { Workers } from "./workers.ts";

export type Reconciliation = {
  kills: number;
  notifications: number;
  /** How many met each fate, by the moment of the kill. */
  fates: Fate[];
  moments: Record<Moment, number[]>;
  /** Found without an outcome, by a sweep or by their own message; the others were proven before. */
  wereUnknown: number;
  /** Resends, each counted by the ledger as a possible duplicate; and emails beyond the first. */
  possibleDuplicates: number;
  duplicates: number;
  uncounted: number;
  lost: number;
  notFinished: number;
  /** Minutes of ledger time until nothing was unfinished, at most. */
  minutes: number;
  /** Seconds of real time. */
  took: number;
};

export type Kills = {
  kills: number;
  /** After so many no round is begun, and what was done is told. */
  minutes: number;
  seed: number;
  /** The provider's events are lost. */
  noEvent: boolean;
  progress: (killed: number) => void;
};

/** Kills between two recoveries. */
const killsPerRound = 40;
const largestBatch = 10;

/**
 * What a killed worker's messages and the provider's events may do: come soon, or only after the sweeps have
 * marked (a consumer that was down). Each round takes the next one.
 */
const recoveries = [
  { messagesAfter: 3, eventsAfter: 0 },
  { messagesAfter: 3, eventsAfter: 5 },
  { messagesAfter: 23, eventsAfter: 0 },
  { messagesAfter: 23, eventsAfter: 25 },
] as const;

/** Kills deliver workers, lets the ledger recover, and compares its rows with the provider's emails. */
export async function reconcileKills(cloud: Cloud, options: Kills): Promise<Reconciliation> {
  const { kills, noEvent, progress } = options;
  const { stack } = cloud;
  const started = performance.now();
  const firstEmail = stack.ses.sent.length;
  const random = seededRandom(options.seed);
  const providerRandom = seededRandom(options.seed + 1);
  const workers = new Workers(stack.environment, 3);
  let done = 0;
  const killed = () => progress(++done);
  const killer: Killer = {
    workers,
    random,
    providerRandom,
    usual: { whole: [], fromCall: [] },
    noEvent,
    killed,
  };
  const victims: Victim[] = [];
  let minutes = 0;
  const inTime = () => performance.now() - started < options.minutes * 60_000;
  try {
    for (let round = 0; done < kills && inTime(); round += 1) {
      const batchSize = 1 + Math.floor(random() * largestBatch);
      const dead = await killWorkers(cloud, killer, Math.min(killsPerRound, kills - done), batchSize);
      victims.push(...dead.victims);
      const recovery = recoveries[round % recoveries.length] ?? recoveries[0];
      const mend = stack.ses.faults.add(() => ({ noEvent }));
      minutes = Math.max(minutes, await recover(cloud, dead, recovery));
      mend();
    }
  } finally {
    await workers.stop();
  }
  const compared = await compare(cloud, victims, firstEmail);
  return { kills: done, ...compared, minutes, took: Math.round((performance.now() - started) / 1000) };
}

async function compare({ stack, ledger }: Cloud, victims: readonly Victim[], firstEmail: number) {
  const emails = Map.groupBy(stack.ses.sent.slice(firstEmail), (email) => email.tags.notification ?? "");
  const ids = victims.map(({ id }) => id);
  const rows = new Map((await readRows(ledger, ids)).map((row) => [row.id, row]));
  const compared = victims.map(({ id, moment }) => {
    const row = rows.get(id);
    if (!row) throw new Error(`notification ${id} has left the ledger`);
    const sent = emails.get(id)?.length ?? 0;
    return { moment, fate: fateOf(moment, row, sent), row, sent };
  });
  const sum = (of: (one: (typeof compared)[number]) => number) =>
    compared.reduce((total, one) => total + of(one), 0);
  const met = (fate: Fate) => sum((one) => (one.fate === fate ? 1 : 0));
  const table = tabulate(compared satisfies Case[]);
  return {
    notifications: victims.length,
    fates: table.fates,
    moments: table.rows,
    wereUnknown: sum(({ row }) => (row.wasUnknown ? 1 : 0)),
    possibleDuplicates: sum(({ row }) => row.resends),
    duplicates: sum(({ sent }) => Math.max(0, sent - 1)),
    uncounted: met("an uncounted duplicate"),
    lost: met("lost"),
    notFinished: met("not finished"),
  };
}
