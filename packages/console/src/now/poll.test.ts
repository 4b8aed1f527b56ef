import { expect, test } from "vitest";
import { type Asked, createPoll } from "./poll.ts";

/** A question whose answers the test gives one by one. */
function heldQuestion() {
  const asked: { keys: string[]; answer: (text: string) => void; fail: (error: Error) => void }[] = [];
  let wanted = Promise.withResolvers<void>();
  return {
    asked,
    ask: (keys: ReadonlySet<string>) => {
      const answer = Promise.withResolvers<string>();
      asked.push({ keys: [...keys], answer: answer.resolve, fail: answer.reject });
      wanted.resolve();
      return answer.promise;
    },
    /** Resolves when it was asked so often. */
    async times(count: number) {
      while (asked.length < count) {
        await wanted.promise;
        wanted = Promise.withResolvers<void>();
      }
    },
  };
}

const quick = { least: 0.001, share: 1 };

test("all who watch share one question at a time, and each is told the answer", async () => {
  const { asked, ask, times } = heldQuestion();
  const poll = createPoll(ask, quick);
  const told: [string, Asked<string>][] = [];
  const leave = poll.watch("a", (answer) => told.push(["first", answer]));
  const leaveToo = poll.watch("b", (answer) => told.push(["second", answer]));
  await times(1);
  asked[0]?.answer("one");
  await times(2);
  expect(asked[1]?.keys).toEqual(["a", "b"]);
  expect(told).toEqual([
    ["first", { answer: "one" }],
    ["second", { answer: "one" }],
  ]);
  leave();
  asked[1]?.answer("two");
  await times(3);
  expect(asked[2]?.keys).toEqual(["b"]);
  expect(told.slice(2)).toEqual([["second", { answer: "two" }]]);
  leaveToo();
});

test("nothing is asked before somebody watches, nor after the last has left; whoever comes later is told again", async () => {
  const { asked, ask, times } = heldQuestion();
  const poll = createPoll(ask, quick);
  expect(asked).toHaveLength(0);
  const told = Promise.withResolvers<void>();
  const leave = poll.watch("a", () => {
    // The last one leaves while it is told: there is nobody to ask for any more.
    leave();
    told.resolve();
  });
  await times(1);
  asked[0]?.answer("one");
  await told.promise;
  const ended = Promise.withResolvers<void>();
  setTimeout(ended.resolve, 50);
  await ended.promise;
  expect(asked).toHaveLength(1);

  const leaveToo = poll.watch("a", () => {});
  await times(2);
  leaveToo();
  asked[1]?.answer("two");
});

test("an error is told as one, and the next question is asked all the same", async () => {
  const { asked, ask, times } = heldQuestion();
  const poll = createPoll(ask, quick);
  const told: Asked<string>[] = [];
  const leave = poll.watch("a", (answer) => told.push(answer));
  await times(1);
  const error = new Error("the ledger is away");
  asked[0]?.fail(error);
  await times(2);
  expect(told).toEqual([{ error }]);
  leave();
  asked[1]?.answer("");
});

test("the longer an answer takes, the longer the pause: no more than its share of the time", async () => {
  const starts: number[] = [];
  const ends: number[] = [];
  const enough = Promise.withResolvers<void>();
  const poll = createPoll(
    async () => {
      starts.push(performance.now());
      if (starts.length === 3) enough.resolve();
      await new Promise((done) => setTimeout(done, 20));
      ends.push(performance.now());
    },
    { least: 0.001, share: 0.25 },
  );
  const leave = poll.watch(null, () => {});
  await enough.promise;
  leave();
  for (const place of [0, 1]) {
    const took = (ends[place] ?? 0) - (starts[place] ?? 0);
    const cycle = (starts[place + 1] ?? 0) - (starts[place] ?? 0);
    // A timer may fire a millisecond early.
    expect(took / cycle).toBeLessThan(0.27);
  }
});

test("whoever comes does not wait for the rest after a long answer", async () => {
  const { asked, ask, times } = heldQuestion();
  const poll = createPoll(ask, { least: 3600, most: 3600 });
  const leave = poll.watch("a", () => {});
  await times(1);
  const told = Promise.withResolvers<void>();
  const leaveToo = poll.watch("b", () => told.resolve());
  asked[0]?.answer("one");
  await told.promise;
  const again = Promise.withResolvers<void>();
  const leaveLast = poll.watch("c", () => again.resolve());
  await times(2);
  asked[1]?.answer("two");
  await again.promise;
  for (const end of [leave, leaveToo, leaveLast]) end();
});
