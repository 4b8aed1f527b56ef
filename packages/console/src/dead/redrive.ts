import { type OwedAgain, oweAgain, type Report, removalText } from "@owed/cli/redrive/owe-again";
import type { Hono } from "hono";
import type { Context } from "../context.ts";
import { action, one } from "../guard/act.ts";
import { parseChoice } from "./choice.ts";
import { count, plural } from "./parts.ts";
import type { Progress, Runs } from "./runs.ts";
import { pageOf, pick, titleOf } from "./try.ts";

/** Redrives what the dry run showed, in the background: its page says how far it is. */
export function redriveActions(app: Hono, context: Context, runs: Runs): void {
  action(app, context, "/dead/redrive", async ({ act, form, writer }) => {
    const choice = parseChoice(form);
    const foreseen = Number(one(form, "foreseen")) || null;
    const title = `Redrive of ${titleOf(choice)}`;
    const run = runs.begin({ title, by: act, from: pageOf(choice) }, async (report) => {
      report({ doing: "looks for what is dead", done: 0, total: null });
      const picked = await pick(writer, choice);
      const tell: Report = (doing, done, of) => report(progressOf(doing, done, of));
      const done = await oweAgain({ ...context.services, ledger: writer }, picked, act, tell);
      return { sentences: told(done, foreseen, picked.more), left: done.refused, failed: false };
    });
    return { to: `/dead/runs/${run.id}`, said: `${title} has begun.` };
  });
}

const doings = {
  owing: "owed again, or left",
  tidying: "messages removed from the dead-letter queue",
} as const;

const progressOf = (doing: keyof typeof doings, done: number, total: number): Progress => ({
  ...{ doing: doings[doing], done, total },
});

function told(
  { redriven, refused, removal }: OwedAgain,
  foreseen: number | null,
  fitMore: boolean,
): string[] {
  const { length: done } = redriven;
  const sentences = [
    `${plural(done, "notification")} owed again${done === 0 ? "" : `: the next sweep publishes ${done === 1 ? "it" : "them"}`}. ${count(refused.length)} left as they are.`,
  ];
  if (foreseen !== null && foreseen > done)
    sentences.push(
      `The dry run foresaw ${count(foreseen)}: the others were redriven by somebody else, or have changed since.`,
    );
  if (foreseen !== null && foreseen < done)
    sentences.push(`The dry run foresaw ${count(foreseen)}: more have died since, and fit.`);
  if (fitMore) sentences.push("More fit than one redrive takes: look at the group again.");
  return [...sentences, removalText(removal)];
}
