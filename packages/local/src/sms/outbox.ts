import type { AcceptedText } from "./text.ts";

/** What is kept of each text, for drills and tests to count. */
export type SentText = Pick<
  AcceptedText,
  "to" | "from" | "text" | "context" | "encoding" | "segments" | "messageId" | "at"
>;

/** A text as a page shows it. */
export interface SmsRow {
  readonly messageId: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly segments: number;
  readonly notification: string | undefined;
  /** Seconds since the epoch. */
  readonly at: number;
}

/** The rows of one answer, and the texts that they are looked for in. */
const LISTED = 200;
const SEARCHED = 10_000;

/** The texts that were sent, in memory. */
export class Outbox {
  /** In the order of acceptance; the oldest leave when there are more than `keep`. */
  readonly sent: SentText[] = [];
  readonly #keep: number;

  constructor(keep: number) {
    this.#keep = keep;
  }

  add({ to, from, text, context, encoding, segments, messageId, at }: AcceptedText): void {
    this.sent.push({ to, from, text, context, encoding, segments, messageId, at });
    // In large steps, since each moves the whole list.
    if (this.sent.length >= this.#keep * 1.1 + 1) this.sent.splice(0, this.sent.length - this.#keep);
  }

  /** The last text to a number. */
  lastTo(number: string): SentText | undefined {
    return this.sent.findLast(({ to }) => to === number);
  }

  clear(): void {
    this.sent.length = 0;
  }

  /** The latest texts, the oldest first. @param query a part of a number, text, message id or context */
  rows(query = ""): SmsRow[] {
    const wanted = this.sent
      .slice(-SEARCHED)
      .filter((text) => searchable(text).includes(query.toLowerCase()));
    return wanted.slice(-LISTED).map(({ messageId, from, to, text, segments, context, at }) => ({
      ...{ messageId, from, to, text, segments },
      notification: context.notification,
      at: Math.floor(at / 1000),
    }));
  }
}

const searchable = ({ to, text, messageId, context }: SentText): string =>
  [to, text, messageId, ...Object.values(context)].join("\n").toLowerCase();
