import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { Backend } from "./backend.ts";
import { deadLetterSources } from "./dead-letters.ts";
import { DedupWindow } from "./dedup.ts";
import { type Answer, errorAnswer, SqsError } from "./errors.ts";
import { type SqsCall, type SqsFault, SqsFaults } from "./faults.ts";
import type { Exchange } from "./http.ts";
import { type Json, parseObject, text } from "./json.ts";
import { MoveTasks } from "./move-tasks.ts";
import { receiveMessage } from "./receive.ts";
import { sendMessage, sendMessageBatch } from "./send.ts";
import { batchEntries } from "./validate.ts";

const NO_FAULT: SqsFault = {};

/** Between the SDK and fauxqs: takes one call of the AWS JSON protocol, applies faults, and answers it. */
export class Front {
  readonly faults = new SqsFaults();
  /** Where clients reach this front. */
  endpoint = "";
  readonly #region: string;
  readonly #backend: Backend;
  readonly #dedup: DedupWindow;
  readonly #moves: MoveTasks;

  constructor(region: string, clock?: () => number) {
    this.#region = region;
    this.#dedup = new DedupWindow(clock);
    this.#backend = new Backend(region);
    this.#moves = new MoveTasks(this.#backend);
  }

  async answer(exchange: Exchange): Promise<void> {
    let call: SqsCall;
    try {
      call = this.#parse(exchange);
    } catch (error) {
      reply(exchange, refused(error));
      return;
    }
    const fault = this.faults.match(call) ?? NO_FAULT;
    if (fault.delay) await delay(fault.delay, undefined, { ref: false });
    if (fault.drop === "before") return exchange.drop();
    if (fault.error) return reply(exchange, garbled(errorAnswer(fault.error), fault));
    const answer = await this.#perform(call, fault, exchange).catch(refused);
    this.faults.tell(() => ({ ...call, status: answer.status, response: parseObject(answer.body) }));
    if (fault.hold) await fault.hold;
    if (fault.drop === "after") exchange.drop();
    else reply(exchange, garbled(answer, fault));
  }

  async stop(): Promise<void> {
    await this.#moves.stop();
    await this.#backend.stop();
  }

  #parse({ headers, body }: Exchange): SqsCall {
    const target = headers["x-amz-target"];
    if (typeof target !== "string" || !target.startsWith("AmazonSQS.")) {
      throw new SqsError(
        "InvalidAction",
        "This is SQS: the header x-amz-target must name one of its actions.",
      );
    }
    const [, caller = "", region] =
      /Credential=([^/]*)\/\d{8}\/([^/]+)\//.exec(headers.authorization ?? "") ?? [];
    if (region !== undefined && region !== this.#region) {
      const why = `Credential should be scoped to a valid region: this is ${this.#region}, not ${region}.`;
      throw new SqsError("InvalidSignatureException", why, 403);
    }
    const request = parseObject(body);
    const queueName = text(request, "QueueName") ?? text(request, "QueueUrl")?.split("/").at(-1) ?? "";
    return { action: target.slice("AmazonSQS.".length), queueName, caller, request };
  }

  async #perform(
    { action, queueName, request }: SqsCall,
    fault: SqsFault,
    { gone }: Exchange,
  ): Promise<Answer> {
    const sender = { backend: this.#backend, dedup: this.#dedup };
    switch (action) {
      case "SendMessage":
        return ok(await sendMessage(sender, queueName, request, fault));
      case "SendMessageBatch":
        return ok(await sendMessageBatch(sender, queueName, request, fault));
      case "ReceiveMessage":
        return receiveMessage(this.#backend, request, gone);
      case "DeleteMessageBatch":
      case "ChangeMessageVisibilityBatch":
        batchEntries(request);
        return this.#backend.call(action, request);
      case "DeleteQueue":
        this.#dedup.forgetQueue(queueName);
        return this.#backend.call(action, request);
      case "CreateQueue":
      case "GetQueueUrl":
      case "ListQueues":
        return this.#withOwnUrls(await this.#backend.call(action, request));
      case "ListDeadLetterSourceQueues":
        return this.#withOwnUrls(ok(await deadLetterSources(this.#backend, queueName)));
      case "StartMessageMoveTask":
        return ok(await this.#moves.start(request));
      case "ListMessageMoveTasks":
        return ok(await this.#moves.list(request));
      case "CancelMessageMoveTask":
        return ok(this.#moves.cancel(request));
      default:
        return this.#backend.call(action, request);
    }
  }

  /** The SDK follows a queue's URL, so it must lead here; fauxqs writes a host of its own. */
  #withOwnUrls(answer: Answer): Answer {
    return { ...answer, body: answer.body.replaceAll(/http:\/\/[^/"]+\/(?=\d{12}\/)/g, `${this.endpoint}/`) };
  }
}

const ok = (response: Json): Answer => ({ status: 200, body: JSON.stringify(response) });

const garbled = (answer: Answer, { garble }: SqsFault): Answer =>
  garble ? { ...answer, body: garble(answer.body) } : answer;

/** What a refused call gets; anything but an error of SQS is a fault of ours and goes on. */
function refused(error: unknown): Answer {
  if (error instanceof SqsError) return errorAnswer(error);
  throw error;
}

function reply(exchange: Exchange, { status, body, queryError }: Answer): void {
  const headers = {
    "content-type": "application/x-amz-json-1.0",
    "x-amzn-requestid": randomUUID(),
    ...(queryError && { "x-amzn-query-error": queryError }),
  };
  exchange.reply(status, headers, body);
}
