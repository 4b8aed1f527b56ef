import type { SendResult } from "../channel.ts";
import { bounded } from "./bounded.ts";
import { Flight, type Handing } from "./flight.ts";

/** How one notification is sent by one call of the AWS SDK. */
export type Call = {
  command: Handing;
  /** Sends the command; its signal ends the call. */
  send(abortSignal: AbortSignal): Promise<{ MessageId?: string | undefined }>;
  /** Milliseconds for the whole of it, credentials and answer included. */
  timeoutMs: number;
  signal: AbortSignal | undefined;
  provider: string;
  /** What a failure means. */
  classify(error: unknown, flight: Flight): SendResult;
};

/** Makes the call. Never rejects, and lasts no longer than its time. */
export async function call({
  command,
  send,
  timeoutMs,
  signal,
  provider,
  classify,
}: Call): Promise<SendResult> {
  const flight = new Flight();
  try {
    const { MessageId } = await bounded(timeoutMs, signal, (stop) => {
      flight.watch(command, stop);
      return flight.follow(() => send(stop));
    });
    // One that the ledger can't hold would keep the whole batch's outcomes from being recorded.
    if (typeof MessageId === "string" && /^[!-~]{1,256}$/.test(MessageId)) {
      return { outcome: "accepted", provider, providerMessageId: MessageId };
    }
    return { outcome: "unknown", reason: "UnusableAnswer: status 200 without a message id" };
  } catch (error) {
    return classify(error, flight);
  }
}
