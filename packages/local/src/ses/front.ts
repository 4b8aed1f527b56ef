import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Exchange } from "../sqs/http.ts";
import { type AcceptedEmail, type Email, recipients } from "./email.ts";
import { SesError } from "./errors.ts";
import { type EventOrigin, eventOf, type SesEvent } from "./event.ts";
import { simulatedFate } from "./fate.ts";
import { createFaults, type SesFault } from "./faults.ts";
import type { Mailbox } from "./mailbox.ts";
import { MAILBOX_PAGE } from "./page.ts";
import type { SendQuota } from "./quota.ts";
import { parseEmail } from "./request.ts";
import { sent, story } from "./story.ts";
import { checkEmail } from "./validate.ts";
import { errorXml, resultXml } from "./xml.ts";

/** From here on a send waits for its event, so that events nobody takes do not fill the memory. */
const MAX_PENDING_EVENTS = 10_000;

/** The HTTP side of the local SES: the query protocol on `POST /`, the mailbox for browsers. */
export class Front {
  readonly faults = createFaults();
  readonly #mailbox: Mailbox;
  readonly #quota: SendQuota;
  readonly #origin: EventOrigin;
  readonly #onEvent: (event: SesEvent) => void | Promise<void>;
  #pendingEvents = 0;

  constructor(
    mailbox: Mailbox,
    quota: SendQuota,
    origin: EventOrigin,
    onEvent: (event: SesEvent) => void | Promise<void>,
  ) {
    this.#mailbox = mailbox;
    this.#quota = quota;
    this.#origin = origin;
    this.#onEvent = onEvent;
  }

  async answer(exchange: Exchange): Promise<void> {
    const { pathname, searchParams } = new URL(exchange.url, "http://localhost");
    if (exchange.method === "POST" && pathname === "/") return this.#call(exchange);
    if (exchange.method === "GET" && pathname === "/") {
      return exchange.reply(200, { "content-type": "text/html; charset=utf-8" }, MAILBOX_PAGE);
    }
    const json = { "content-type": "application/json" };
    if (exchange.method === "GET" && pathname === "/store") {
      const since = Number(searchParams.get("since") ?? 0) || 0;
      const store = this.#mailbox.store(searchParams.get("q") ?? "", since);
      return exchange.reply(200, json, JSON.stringify(store));
    }
    const message =
      "Here are the query protocol of SES (version 1) on POST /, the mailbox on GET / and /store.";
    exchange.reply(404, json, JSON.stringify({ message }));
  }

  async #call(exchange: Exchange): Promise<void> {
    const form = new URLSearchParams(exchange.body);
    const action = form.get("Action") ?? "";
    try {
      if (action === "GetSendQuota") return reply(exchange, 200, resultXml(action, this.#sendQuota()));
      if (action === "SendEmail" || action === "SendRawEmail") {
        const email = parseEmail(action, form);
        checkEmail(email);
        return await this.#send(exchange, email, this.faults.match(email) ?? {});
      }
      throw new SesError("InvalidAction", `The local SES does not know the action ${action || "(none)"}.`);
    } catch (error) {
      if (!(error instanceof SesError)) throw error;
      reply(exchange, error.status, errorXml(error));
    }
  }

  async #send(exchange: Exchange, email: Email, fault: SesFault): Promise<void> {
    if (fault.delay) await delay(fault.delay, undefined, { ref: false });
    if (fault.drop === "before") return exchange.drop();
    const { garble = (body) => body } = fault;
    if (fault.error) {
      const { status, headers } = fault.error;
      return reply(exchange, status, garble(errorXml(fault.error)), headers);
    }
    const throttled = this.#quota.take(recipients(email).length);
    if (throttled) throw new SesError("Throttling", throttled);
    const accepted = { ...email, messageId: messageId(), at: Date.now() };
    this.#mailbox.add(accepted);
    if (!fault.noEvent) {
      const emitted = this.#emit(accepted, fault);
      if (this.#pendingEvents > MAX_PENDING_EVENTS) await emitted;
    }
    if (fault.hold) await fault.hold;
    if (fault.drop === "after") exchange.drop();
    else reply(exchange, 200, garble(resultXml(email.action, { MessageId: accepted.messageId })));
  }

  /** In order. Never rejects: as with SES, a lost event is nothing that the sender hears of. */
  async #emit(email: AcceptedEmail, { holdEvent, holdFate, fate }: SesFault): Promise<void> {
    this.#pendingEvents += 1;
    try {
      await holdEvent;
      await this.#onEvent(eventOf(email, sent, this.#origin));
      const next = fate ?? simulatedFate(email);
      if (!next) return;
      await holdFate;
      for (const chapter of story(email, next)) await this.#onEvent(eventOf(email, chapter, this.#origin));
    } catch (error) {
      console.error(`SES: an event of ${email.messageId} is lost:`, error);
    } finally {
      this.#pendingEvents -= 1;
    }
  }

  #sendQuota() {
    const { max24HourSend, maxSendRate } = this.#quota;
    const SentLast24Hours = this.#quota.sentLast24Hours();
    return { Max24HourSend: max24HourSend, MaxSendRate: maxSendRate, SentLast24Hours };
  }
}

/** Like `0100018f3c5d2a7b-1b2c3d4e-…-000000`: the time in milliseconds, then what no other email has. */
function messageId(): string {
  const time = Date.now().toString(16).padStart(12, "0");
  return `0100${time}-${randomUUID()}-000000`;
}

function reply(
  exchange: Exchange,
  status: number,
  xml: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  exchange.reply(status, { ...headers, "content-type": "text/xml", "x-amzn-requestid": randomUUID() }, xml);
}
