import { close, lift, open } from "./channel-steps.ts";
import { claimBatch, recordBatch, weighProof } from "./deliver-steps.ts";
import { type History, pick } from "./history.ts";
import { cancelOne, optOut, replaySome, resolveOne } from "./operate-steps.ts";
import type { Step } from "./steps.ts";
import { leaseSlice, lookAtSome, markSome, releaseOne } from "./sweep-steps.ts";

/** Takes one step of a history, in the ledger and in the model. */
export async function takeStep(history: History, step: Step): Promise<void> {
  switch (step.do) {
    case "pass":
      return history.pass(step.seconds ?? history.untilDue());
    case "sweep": {
      await takeStep(history, step.look);
      const taken = await added(history.leases, () => takeStep(history, step.slice));
      if (step.until !== "lease")
        for (const lease of taken) await takeStep(history, { do: "publish", lease });
      if (step.until === "mark") await takeStep(history, { do: "mark", leases: taken });
      return;
    }
    case "deliver": {
      const claim = { do: "claim", messages: step.messages } as const;
      const taken = await added(history.claims, () => takeStep(history, claim));
      return takeStep(history, { ...step.record, claims: taken.slice(0, step.record.claims.length) });
    }
    case "publish":
      for (const { row, leased } of pick(history.leases, step.lease)) history.send(row, leased.generation);
      return;
    case "redrive":
      for (const { row, generation } of pick(history.messages, step.message)) history.send(row, generation);
      return;
    case "lease":
      return leaseSlice(history, step);
    case "look":
      return lookAtSome(history, step);
    case "mark":
      return markSome(history, step);
    case "release":
      return releaseOne(history, step);
    case "claim":
      return claimBatch(history, step);
    case "record":
      return recordBatch(history, step);
    case "evidence":
      return weighProof(history, step);
    case "replay":
      return replaySome(history, step);
    case "resolve":
      return resolveOne(history, step);
    case "cancel":
      return cancelOne(history, step);
    case "optOut":
      return optOut(history, step);
    case "lift":
      return lift(history, step);
    case "close":
      return close(history, step);
    case "open":
      return open(history);
  }
}

/** What a step added to a list, as places before the newest. */
async function added(list: readonly unknown[], step: () => Promise<void>): Promise<number[]> {
  const before = list.length;
  await step();
  return [...Array(list.length - before).keys()];
}
