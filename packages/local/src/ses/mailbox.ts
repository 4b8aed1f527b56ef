import libmime from "libmime";
import { type AcceptedEmail, recipients } from "./email.ts";

/** What is kept of each email, for drills and tests to count. */
export interface SentEmail {
  readonly to: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  readonly messageId: string;
  readonly subject: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Another channel's message, as the page shows it. */
export type Shown = {
  readonly id: string;
  readonly channel: string;
  readonly to: string;
  readonly title: string;
  readonly body: string;
  readonly facts: Readonly<Record<string, string>>;
  /** Seconds since the epoch. */
  readonly at: number;
};

/** Emails that are kept whole, for the page. */
const WHOLE = 500;
/** Emails that the page gets at once. */
const LISTED = 100;

/** The accepted emails: a small record of many, the whole of the latest. */
export class Mailbox {
  /** In the order of acceptance; the oldest leave when there are more than `keep`. */
  readonly sent: SentEmail[] = [];
  readonly #whole: AcceptedEmail[] = [];
  readonly #keep: number;
  readonly #others: (query: string) => readonly Shown[];
  #total = 0;

  constructor(keep: number, others: (query: string) => readonly Shown[] = () => []) {
    this.#keep = keep;
    this.#others = others;
  }

  add(email: AcceptedEmail): void {
    const { tags, messageId, subject, at } = email;
    this.sent.push({ to: recipients(email), tags, messageId, subject, at });
    // In large steps, since each moves the whole list.
    if (this.sent.length >= this.#keep * 1.1 + 1) this.sent.splice(0, this.sent.length - this.#keep);
    this.#whole.push(email);
    if (this.#whole.length > WHOLE) this.#whole.shift();
    this.#total += 1;
  }

  clear(): void {
    this.sent.length = 0;
    this.#whole.length = 0;
    this.#total = 0;
  }

  /**
   * The latest emails as `/store` shows them, the oldest first.
   *
   * @param query a part of an address, subject, message id or tag
   * @param since seconds since the epoch
   */
  store(query = "", since = 0) {
    const wanted = this.#whole.filter(
      (email) => email.at >= since * 1000 && searchable(email).includes(query.toLowerCase()),
    );
    const emails = wanted.slice(-LISTED).map(stored);
    return { total: this.#total, matching: wanted.length, emails, others: this.#others(query) };
  }
}

/** Names as people read them: they travel as encoded words (RFC 2047). */
const readable = (mailboxes: readonly string[]) => mailboxes.map((mailbox) => libmime.decodeWords(mailbox));

const searchable = (email: AcceptedEmail) =>
  [
    ...readable(recipients(email)),
    ...recipients(email),
    email.subject,
    email.messageId,
    ...Object.values(email.tags),
  ]
    .join("\n")
    .toLowerCase();

const stored = (email: AcceptedEmail) => ({
  messageId: email.messageId,
  from: libmime.decodeWords(email.source),
  replyTo: email.replyTo,
  destination: { to: readable(email.to), cc: readable(email.cc), bcc: readable(email.bcc) },
  subject: email.subject,
  body: { text: email.text, html: email.html },
  tags: email.tags,
  /** Seconds since the epoch. */
  at: Math.floor(email.at / 1000),
});
