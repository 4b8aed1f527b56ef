import { randomUUID } from "node:crypto";
import { Emitter } from "../provider/emitter.ts";
import { underFault } from "../provider/fault.ts";
import type { Exchange } from "../sqs/http.ts";
import { errorJson, SmsError } from "./errors.ts";
import { eventOf, pending, type SmsEvent, story } from "./event.ts";
import { simulatedFate } from "./fate.ts";
import { createFaults, type SmsFault } from "./faults.ts";
import type { SmsLimits } from "./limits.ts";
import type { Outbox } from "./outbox.ts";
import { partsOf } from "./parts.ts";
import { parseText } from "./request.ts";
import type { AcceptedText, Text } from "./text.ts";

const OPERATION = "PinpointSMSVoiceV2.SendTextMessage";

type Origin = { readonly account: string; readonly region: string };

/** The HTTP side of the local AWS End User Messaging: the AWS JSON protocol on `POST /`. */
export class Front {
  readonly faults = createFaults();
  /** Numbers that get nothing more from this account. */
  readonly optedOut = new Set<string>();
  readonly #outbox: Outbox;
  readonly #limits: SmsLimits;
  readonly #origin: Origin;
  readonly #events: Emitter<SmsEvent>;
  readonly #receive: (from: string, text: string) => Promise<void>;

  constructor(
    outbox: Outbox,
    limits: SmsLimits,
    origin: Origin,
    onEvent: (event: SmsEvent) => void | Promise<void>,
    receive: (from: string, text: string) => Promise<void>,
  ) {
    this.#outbox = outbox;
    this.#limits = limits;
    this.#origin = origin;
    this.#events = new Emitter("SMS", onEvent);
    this.#receive = receive;
  }

  async answer(exchange: Exchange): Promise<void> {
    const target = exchange.headers["x-amz-target"];
    try {
      if (exchange.method !== "POST" || target !== OPERATION)
        throw new SmsError("UnknownOperationException", "", `Here is ${OPERATION} on POST /.`);
      const text = parseText(exchange.body);
      await this.#send(exchange, text, this.faults.match(text) ?? {});
    } catch (error) {
      if (!(error instanceof SmsError)) throw error;
      reply(exchange, error.status, errorJson(error));
    }
  }

  #send(exchange: Exchange, text: Text, fault: SmsFault): Promise<void> {
    return underFault(exchange, fault, {
      accept: async () => {
        if (this.optedOut.has(text.to)) throw refusedOptOut();
        const parts = partsOf(text.text);
        this.#limits.take(parts.segments);
        const accepted = { ...text, ...parts, messageId: randomUUID(), at: Date.now() };
        this.#outbox.add(accepted);
        if (!fault.noEvent) await this.#events.emit(accepted.messageId, this.#story(accepted, fault));
        return JSON.stringify({ MessageId: accepted.messageId });
      },
      reply: (status, body, headers) => reply(exchange, status, body, headers),
      errorBody: errorJson,
    });
  }

  async *#story(text: AcceptedText, { holdEvent, holdFate, fate }: SmsFault): AsyncGenerator<SmsEvent> {
    await holdEvent;
    yield eventOf(text, pending, this.#origin);
    const next = fate ?? simulatedFate(text);
    if (!next) return;
    await holdFate;
    for (const chapter of story(next)) yield eventOf(text, chapter, this.#origin);
    if (next.kind === "reply") await this.#receive(text.to, next.text);
  }
}

const refusedOptOut = () =>
  new SmsError(
    "ConflictException",
    "DESTINATION_PHONE_NUMBER_OPTED_OUT",
    "The destination phone number has opted out.",
  );

function reply(
  exchange: Exchange,
  status: number,
  json: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  const own = { "content-type": "application/x-amz-json-1.0", "x-amzn-requestid": randomUUID() };
  exchange.reply(status, { ...headers, ...own }, json);
}
