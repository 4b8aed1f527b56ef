import { costOfUsage, type Line, scaled, type Usage } from "../cost/bill.ts";
import { type Fixed, fixedCosts } from "../cost/fixed.ts";
import { hoursOfMonth, minutesOfMonth, prices } from "../cost/prices.ts";
import { type Instance, instances } from "./instances.ts";
import {
  assumed,
  connectionsOfContainer,
  deployed,
  executions,
  type Limit,
  limitsOf,
  type Stage,
} from "./limits.ts";
import type { Measured } from "./measured.ts";
import { quotas } from "./quotas.ts";

export type Month = {
  notifications: number;
  /** A second: on average, and at the peak. */
  average: number;
  peak: number;
  /** The first limit that it meets in production as deployed; null where that carries all of it. */
  first: Limit | null;
  /** What carries it, and what of that is the nearest limit. */
  stage: Stage;
  next: Limit | null;
  /** GB that the ledger's rows grow by in this month. */
  growth: number;
  dollars: Line[];
};

/** @throws RangeError when no instance, or no event source, carries the peak */
export function monthOf(
  measured: Measured,
  { work, fixed }: { work: Usage; fixed: Fixed },
  { notifications, peakFactor }: { notifications: number; peakFactor: number },
): Month {
  const average = notifications / (minutesOfMonth * 60);
  const peak = average * peakFactor;
  const growth = (notifications * measured.bytesPerRow) / 1e9;
  const now = productionOf(fixed);
  const pace = { average, peak };
  const stage = grown(measured, now, pace, growth);
  const [first = null] = limitsOf(measured, now).filter((limit) => !carries(limit, pace));
  const [next = null] = limitsOf(measured, stage).toSorted(
    (a, b) => a.carries / pace[a.at] - b.carries / pace[b.at],
  );
  const dollars = [...standing(fixed, stage), ...costOfUsage(scaled(work, notifications))];
  return { notifications, average, peak, first, stage, next, growth, dollars };
}

type Pace = { average: number; peak: number };

const carries = (limit: Limit, pace: Pace): boolean => limit.carries >= pace[limit.at];

/** A stage with each setting raised just as far as the peak asks for, and room for a year of what it keeps. */
function grown(measured: Measured, stage: Stage, pace: Pace, growth: number): Stage {
  const share = stage.memory / quotas.lambda.megabytesOfCore;
  const { provider, told } = assumed;
  const { average, peak } = pace;
  const ingest = Math.max(
    stage.concurrency.ingest,
    Math.ceil(((peak / told) * measured.ingest) / share / 1000),
  );
  const perBatch = provider + measured.deliver / share;
  const deliver = Math.max(
    stage.concurrency.deliver,
    Math.ceil((peak / quotas.sqs.batch) * (perBatch / 1000)),
  );
  const feedback = Math.max(stage.concurrency.feedback, Math.ceil(deliver / 2));
  const most = Math.max(ingest, deliver, feedback);
  if (most > quotas.lambda.mostOfSource)
    throw new RangeError(`no event source starts ${most} executions at once`);
  const concurrency = { ...stage.concurrency, ingest, deliver, feedback };
  const raised: Stage = {
    ...{
      ...stage,
      emails: {
        rate: Math.max(stage.emails.rate, Math.ceil(peak)),
        daily: Math.max(stage.emails.daily, Math.ceil(average * 86_400)),
      },
    },
    storage: Math.max(stage.storage, Math.ceil(growth * 12)),
    concurrency: {
      ...concurrency,
      account: Math.max(stage.concurrency.account, executions({ ...stage, concurrency })),
    },
    connections: {
      ingest: Math.max(stage.connections.ingest, ingest * connectionsOfContainer),
      deliver: Math.max(stage.connections.deliver, deliver * connectionsOfContainer),
      feedback: Math.max(stage.connections.feedback, feedback * connectionsOfContainer),
    },
  };
  // Memory last: the sweep is one process, and only a larger part of a core makes it faster.
  const sizes = [stage.memory, 1024, quotas.lambda.megabytesOfCore];
  for (const instance of instances.slice(instances.indexOf(stage.instance)))
    for (const memory of sizes) {
      const one = { ...raised, instance, memory };
      if (limitsOf(measured, one).every((limit) => carries(limit, pace))) return one;
    }
  throw new RangeError(`no instance here carries ${Math.ceil(peak)} notifications a second`);
}

/** What stands there, with the stage's own database in two zones. */
function standing(fixed: Fixed, { instance, storage }: Stage): Line[] {
  const others = fixedCosts(fixed).filter(({ what }) => !what.startsWith("RDS"));
  return [
    {
      what: `RDS: ${fixed.instances} × ${instance.name}`,
      dollars: fixed.instances * instance.hour * hoursOfMonth,
    },
    { what: `RDS: ${fixed.instances} × ${storage} GB`, dollars: fixed.instances * storage * prices.storage },
    ...others,
  ];
}

/** Production as it is deployed. */
export const productionOf = ({ instance }: Fixed): Stage => deployed(named(instance));

function named(name: string): Instance {
  const instance = instances.find((one) => one.name === name);
  if (!instance) throw new RangeError(`instances.ts has no ${name}: add it`);
  return instance;
}
