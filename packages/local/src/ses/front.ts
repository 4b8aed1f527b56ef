import { randomUUID } from "node:crypto";
import { Emitter } from "../provider/emitter.ts";
import { underFault } from "../provider/fault.ts";
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

/** The HTTP side of the local SES: the query protocol on `POST /`, the mailbox for browsers. */
export class Front {
  readonly faults = createFaults();
  readonly #mailbox: Mailbox;
  readonly #quota: SendQuota;
  readonly #origin: EventOrigin;
  readonly #events: Emitter<SesEvent>;

  constructor(
    mailbox: Mailbox,
    quota: SendQuota,
    origin: EventOrigin,
    onEvent: (event: SesEvent) => void | Promise<void>,
  ) {
    this.#mailbox = mailbox;
    this.#quota = quota;
    this.#origin = origin;
    this.#events = new Emitter("SES", onEvent);
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

  #send(exchange: Exchange, email: Email, fault: SesFault): Promise<void> {
    return underFault(exchange, fault, {
      accept: async () => {
        const throttled = this.#quota.take(recipients(email).length);
        if (throttled) throw new SesError("Throttling", throttled);
        const accepted = { ...email, messageId: messageId(), at: Date.now() };
        this.#mailbox.add(accepted);
        if (!fault.noEvent) await this.#events.emit(accepted.messageId, this.#story(accepted, fault));
        return resultXml(email.action, { MessageId: accepted.messageId });
      },
      reply: (status, body, headers) => reply(exchange, status, body, headers),
      errorBody: errorXml,
    });
  }

  async *#story(email: AcceptedEmail, { holdEvent, holdFate, fate }: SesFault): AsyncGenerator<SesEvent> {
    await holdEvent;
    yield eventOf(email, sent, this.#origin);
    const next = fate ?? simulatedFate(email);
    if (!next) return;
    await holdFate;
    for (const chapter of story(email, next)) yield eventOf(email, chapter, this.#origin);
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
