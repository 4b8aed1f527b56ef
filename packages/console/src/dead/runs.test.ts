import { expect, test } from "vitest";
import { type Outcome, type Progress, Runs } from "./runs.ts";

const about = { title: "a redrive", by: { actor: "ana", why: "x" }, from: "/dead" };
const done: Outcome = { sentences: ["done"], left: [], failed: false };

/** A run whose work goes on until the test says so. */
function begin(runs: Runs) {
  const work = Promise.withResolvers<Outcome>();
  let report: (progress: Progress) => void = () => {};
  const run = runs.begin(about, (given) => {
    report = given;
    return work.promise;
  });
  return { run, work, report: (progress: Progress) => report(progress) };
}

test("who looks hears of each change, and of the end", async () => {
  const runs = new Runs();
  const { run, work, report } = begin(runs);
  const changed = runs.changed(run, 0);
  report({ doing: "owed again", done: 1, total: 2 });
  await changed;
  expect(run).toMatchObject({ version: 1, progress: { done: 1, total: 2 }, outcome: null });
  // What has changed since is told at once.
  await runs.changed(run, 0);
  const ended = Promise.all([runs.changed(run, 1), runs.changed(run, 1)]);
  work.resolve(done);
  await ended;
  expect(run.outcome).toEqual(done);
  await runs.changed(run, run.version);
  expect(runs.find(run.id)).toBe(run);
});

test("an error is an outcome that says how far it had come", async () => {
  const runs = new Runs();
  const { run, work, report } = begin(runs);
  report({ doing: "owed again", done: 1000, total: 3000 });
  work.reject(new Error("the database went away"));
  await runs.changed(run, run.version);
  expect(run.outcome).toMatchObject({
    failed: true,
    sentences: ["It stopped: the database went away.", expect.stringContaining("owed again, 1000 of 3000. ")],
  });
});

test("what has ended is forgotten in the end, and what goes on never is", async () => {
  const runs = new Runs();
  const { run: going, work } = begin(runs);
  for (let place = 0; place < 60; place += 1) {
    const run = runs.begin(about, async () => done);
    await runs.changed(run, run.version);
  }
  expect(runs.find(going.id)).toBe(going);
  expect(runs.list()).toHaveLength(50);
  expect(runs.find("2")).toBeUndefined();
  work.resolve(done);
});
