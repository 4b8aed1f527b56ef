import { CreateQueueCommand } from "@aws-sdk/client-sqs";
import { Ledger } from "@owed/ledger";
import Table from "cli-table3";
import { Command } from "commander";
import { wholeNumber } from "../arguments.ts";
import { setUpOptions } from "../database/ledger-database.ts";
import { type Figure, figureTable, type Series, series, showSeries } from "../figures.ts";
import { describeMachine, type Machine } from "../machine.ts";
import { withProgress } from "../progress.ts";
import { settings } from "../sweep/sweep-all.ts";
import { type Cloud, withCloud } from "../with-cloud.ts";
import { deliverAll } from "./deliver-all.ts";
import { carry, type PlainQueue } from "./plain.ts";

type Options = { rows: number; runs: number; serviceTime: number; json: boolean };

type Run = { alone: number; flow: number };

export type Result = {
  benchmark: "flow";
  machine: Machine;
  options: Options;
  /** Messages a second that the queue carries without us, and notifications a second from owed to delivered. */
  alone: Series;
  flow: Series;
  /** The second as a part of the first, each run beside its own. */
  share: Series;
  figures: Figure[];
};

/** Invocations at once, as the stack's event source has. */
const concurrency = 4;

/** Messages and notifications that are carried before anything is measured. */
const warmUp = 500;

export const flowCommand = () =>
  new Command("flow")
    .description(
      "Notifications a second from owed to delivered, through SQS and the provider on the local stack, beside the messages a second that the same queue carries when they are only sent, received and deleted.",
    )
    .option("--rows <n>", "notifications, and messages, in a run", wholeNumber(10), 4000)
    .option("--runs <n>", "runs of each", wholeNumber(), 3)
    .option("--service-time <n>", "milliseconds that the queue takes for a call", wholeNumber(0), 8)
    .option("--json", "print one JSON object last", false)
    .action(async (options: Options) => {
      const result = await measureFlow(options);
      print(result, options.json ? console.error : console.log);
      if (options.json) console.log(JSON.stringify(result));
    });

const measureFlow = (options: Options): Promise<Result> =>
  withCloud({ dailyQuota: -1, settings: { retention: { days: null } } }, async (cloud) => {
    const { stack } = cloud;
    // The provider's pace is not what is measured, nor are its events on their way back.
    stack.ses.quota.maxSendRate = 1_000_000;
    stack.ses.faults.add(() => ({ noEvent: true }));
    const machine = await describeMachine(cloud.ledger);
    const url = await createPlainQueue(cloud);
    stack.sqs.faults.add(() => ({ delay: options.serviceTime }));
    const setUp = new Ledger(setUpOptions(stack.ledgerOptions));
    try {
      const runs = await withProgress("the queue alone, and the flow", options.runs, (update) =>
        measureRuns({ cloud, setUp, queue: { sqs: stack.client, url } }, options, update),
      );
      return { benchmark: "flow", machine, options, ...summed(runs, options) };
    } finally {
      await setUp.close();
    }
  });

type Bench = { cloud: Cloud; setUp: Ledger; queue: PlainQueue };

async function measureRuns(
  { cloud, setUp, queue }: Bench,
  { rows, runs }: Options,
  measured: (runs: number) => void,
): Promise<Run[]> {
  const both = async (count: number): Promise<Run> => ({
    alone: count / (await carry(queue, count, { lanes: settings.sweep.lanes, concurrency })),
    flow: count / (await deliverAll(cloud.stack, setUp, count)),
  });
  await both(Math.min(warmUp, rows));
  const all: Run[] = [];
  while (all.length < runs) {
    all.push(await both(rows));
    measured(all.length);
  }
  return all;
}

/** A second queue like the notification queue, which no function consumes. */
async function createPlainQueue({ stack }: Cloud): Promise<string> {
  const { QueueUrl } = await stack.client.send(
    new CreateQueueCommand({
      QueueName: "plain.fifo",
      Attributes: {
        ...{
          FifoQueue: "true",
          DeduplicationScope: "messageGroup",
          FifoThroughputLimit: "perMessageGroupId",
        },
        VisibilityTimeout: "180",
      },
    }),
  );
  if (!QueueUrl) throw new Error("SQS created a queue without telling its URL");
  return QueueUrl;
}

function summed(runs: readonly Run[], { serviceTime }: Options) {
  const share = series(runs.map(({ alone, flow }) => flow / alone));
  const figure: Figure = {
    name: `flow: owed to delivered, beside the queue alone, which answers after ${serviceTime} ms`,
    ...{ value: share.median, unit: "x", target: 0.8, sense: "at least" },
  };
  return {
    alone: series(runs.map((run) => run.alone)),
    flow: series(runs.map((run) => run.flow)),
    share,
    figures: [figure],
  };
}

function print({ machine, options, alone, flow, share, figures }: Result, log: (text: string) => void): void {
  log(`Node ${machine.node}, PostgreSQL ${machine.postgres}, ${machine.cores} × ${machine.cpu}`);
  log(
    `Medians (min … max) of ${options.runs} runs, ${options.rows} each; everything but PostgreSQL in one process`,
  );
  const table = new Table({ colAligns: ["left", "right"], style: { head: [], border: [] } });
  table.push(["the queue alone: send, receive, delete, a second", showSeries(alone)]);
  table.push(["from owed to delivered, a second", showSeries(flow)]);
  table.push(["share", showSeries(share)]);
  log(table.toString());
  log(figureTable(figures));
}
