import type { Channel, SendRequest, SendResult } from "@owed/channel";
import { sesEvent } from "../../packages/functions/src/testing/ses-events.ts";
import type { Clock } from "./clock.ts";
import type { Invocation } from "./invocation.ts";
import type { Queue } from "./queue.ts";

export type Answer =
  | "accepts"
  /** Accepts, and the answer is lost. */
  | "accepts silently"
  /** Takes nothing, and answers nothing. */
  | "drops"
  | "slow down"
  | "retry after"
  | "quota"
  | "account"
  | "refuses"
  /** Its own error about this one message. */
  | "cannot"
  /** Not reached. */
  | "is down";

/** What the provider tells later of a message that it accepted. */
export type Fate = {
  events: ("Send" | "Delivery" | "Bounce" | "Complaint")[];
  delay: number;
  twice: boolean;
};

export type Accepted = { id: string; messageId: string };
export type Call = { id: string; answer: Answer; by: Invocation };

const throttled = (
  reason: string,
  retryAfterSeconds: number | null,
  scope: "rate" | "quota" | "account",
): SendResult => ({
  outcome: "throttled",
  reason,
  retryAfterSeconds,
  scope,
});

const results: Record<Exclude<Answer, "accepts">, SendResult> = {
  "accepts silently": { outcome: "unknown", reason: "TimedOut: no answer" },
  drops: { outcome: "unknown", reason: "Dropped: no answer" },
  "slow down": throttled("Throttling: rate", null, "rate"),
  "retry after": throttled("TooManyRequests: later", 120, "rate"),
  quota: throttled("Throttling: daily quota", null, "quota"),
  account: throttled("SendingPaused: account", null, "account"),
  refuses: { outcome: "refused", reason: "MessageRejected: no such mailbox", answered: true },
  cannot: { outcome: "transient", reason: "NotNow: try again", answered: true },
  "is down": { outcome: "transient", reason: "Down: not written", answered: false },
};

export const answers = ["accepts", ...Object.keys(results)] as Answer[];

/** Seconds of the send lease after which a worker that looks at its clocks calls nobody (docs, `deliver.callBefore`). */
const mostBefore = 45;

/** The provider, which keeps every message that it accepted. What it says next, and later, stands in its lists. */
export class Provider {
  readonly accepted: Accepted[] = [];
  readonly calls: Call[] = [];
  /** The next answers; after them it accepts. */
  answers: Answer[] = [];
  /** What becomes of the next accepted messages; after them it tells of each at once that it was sent. */
  fates: Fate[] = [];
  /** What it says of a recipient, whatever comes next. */
  readonly about = new Map<string, Answer>();
  /** What must not have been asked of it. */
  readonly wrong: string[] = [];
  readonly #clock: Clock;
  readonly #feedback: Queue;

  constructor(clock: Clock, feedback: Queue) {
    this.#clock = clock;
    this.#feedback = feedback;
  }

  /** The provider as a worker reaches it. */
  channelOf(by: Invocation): Channel {
    return {
      name: "email",
      send: (request) => {
        const passed = this.#clock.now - by.since;
        if (passed >= mostBefore)
          this.wrong.push(`${request.notificationId} is called ${passed} s after its batch came`);
        return by.through(
          async () => this.#answer(request, by),
          async (call, happened) => {
            if (happened) await call();
            throw new Error("the provider's client is broken");
          },
        );
      },
    };
  }

  #answer({ notificationId: id, address }: SendRequest, by: Invocation): SendResult {
    const answer = this.about.get(address) ?? this.answers.shift() ?? "accepts";
    this.calls.push({ id, answer, by });
    if (answer !== "accepts" && answer !== "accepts silently") return results[answer];
    const messageId = `P-${this.accepted.length}`;
    this.accepted.push({ id, messageId });
    this.#tell(id, messageId);
    return answer === "accepts"
      ? { outcome: "accepted", provider: "ses", providerMessageId: messageId }
      : results[answer];
  }

  #tell(id: string, messageId: string): void {
    const { events, delay, twice } = this.fates.shift() ?? { events: ["Send"], delay: 0, twice: false };
    const mark = this.#clock.mark();
    for (const eventType of twice ? [...events, ...events] : events) {
      const timestamp = () => new Date(this.#clock.asOfNow(mark)).toISOString();
      const body = () => JSON.stringify(sesEvent(id, { eventType, messageId, timestamp: timestamp() }));
      this.#feedback.send({ body, group: null }, { delay });
    }
  }
}
