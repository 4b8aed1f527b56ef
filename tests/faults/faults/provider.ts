import { setTimeout as sleep } from "node:timers/promises";
import type { BusEvent } from "../../../packages/local/src/bus.ts";
import type { SesFault } from "../../../packages/local/src/ses/index.ts";
import type { Draw } from "../fault.ts";
import { fault, type MeetableFault, picks } from "./met.ts";

type Spoil = (draw: Draw, over: Promise<void>, to: string) => SesFault | undefined;

/** Something is wrong with the provider's answers to some emails. */
const provider = (name: string, spoil: Spoil): MeetableFault =>
  fault(`provider: ${name}`, async ({ ses }, draw, meet) => {
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const picked = picks(draw);
    /** Until when it is still accepting what was asked of it. */
    let accepting = 0;
    const remove = ses.faults.add(({ to }) => {
      if (!picked()) return undefined;
      const spoilt = spoil(draw, over, to.join());
      if (spoilt) meet();
      if (spoilt?.delay) accepting = performance.now() + spoilt.delay + 100;
      return spoilt;
    });
    return async () => {
      remove();
      end();
      // What it accepts late belongs to this history still.
      await sleep(Math.max(0, accepting - performance.now()));
    };
  });

const error = (status: number, code: string, message: string, headers: Record<string, string> = {}) => ({
  error: { status, code, message, headers },
});

const throttles = [
  error(400, "Throttling", "Maximum sending rate exceeded."),
  error(429, "TooManyRequestsException", "Too many requests"),
  error(429, "TooManyRequestsException", "Too many requests", { "retry-after": "90" }),
];
const pauses = [
  error(400, "AccountSendingPausedException", "Sending is disabled for this account."),
  error(400, "MessageRejected", "Sending paused for this account."),
];
const garbage = ["<html>Bad Gateway</html>", "", "null", "<SendEmailResponse>"];
const one = <T>(draw: Draw, of: readonly T[]): T | undefined => of[draw(of.length)];

/** The same addresses each time, and some of every shipment that two watch. */
const unlucky = (to: string) => to.includes("merchant.");

/** Its events come in threes at most, each twice, the newest first. */
const events = fault("provider: its events come twice and out of order", async ({ bus, ses }, draw, meet) => {
  const put = bus.put.bind(bus);
  const kept: BusEvent[] = [];
  const release = async () => {
    const shuffled = kept.splice(0).toReversed();
    for (const event of [...shuffled, ...shuffled]) await put(event);
  };
  bus.put = async (event) => {
    if (event.source !== "aws.ses") return put(event);
    meet();
    kept.push(event);
    if (kept.length > draw(3)) await release();
  };
  const fates = [
    { kind: "arrive" },
    { kind: "delay", arrives: true },
    { kind: "answer" },
    { kind: "complain", type: "not-spam" },
  ] as const;
  const remove = ses.faults.add(() => ({ fate: one(draw, fates) ?? fates[0] }));
  return async () => {
    remove();
    bus.put = put;
    await release();
  };
});

export const providerFaults: readonly MeetableFault[] = [
  provider("accepts, and drops the connection", () => ({ drop: "after" })),
  provider("drops the connection before it accepts", () => ({ drop: "before" })),
  provider("throttles", (draw) => one(draw, throttles)),
  provider("the daily quota is used up", () => error(400, "Throttling", "Daily message quota exceeded.")),
  provider("the account is paused", (draw) => one(draw, pauses)),
  provider("answers 500", () => error(500, "InternalFailure", "Something went wrong.")),
  provider("answers 503", () => error(503, "ServiceUnavailable", "Service is unavailable.")),
  provider("accepts, and answers with garbage", (draw) => {
    const body = one(draw, garbage) ?? "";
    return { garble: () => body };
  }),
  provider("accepts nothing, and answers with garbage", (draw) => {
    const body = one(draw, garbage) ?? "";
    return { ...error([200, 400, 502, 302][draw(4)] ?? 200, "Nothing", "of SES's"), garble: () => body };
  }),
  provider("accepts, and answers long after", (_draw, over) => ({ hold: over })),
  provider("accepts when nobody waits any more", (draw) => ({ delay: 1_050 + draw(400) })),
  provider("accepts, drops the connection, and its events are lost", () => ({
    drop: "after",
    noEvent: true,
  })),
  provider("accepts, drops the connection, and its events are late", (_draw, over) => ({
    ...{ drop: "after", holdEvent: over },
  })),
  provider("refuses some addresses", (_draw, _over, to) =>
    unlucky(to) ? error(400, "MessageRejected", "Address is on the suppression list.") : undefined,
  ),
  events,
];
