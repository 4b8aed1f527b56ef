import type { Channel, SendRequest, SendResult } from "@owed/channel";

export type ScriptedChannel = Channel & {
  /** What it was asked to send, in order. */
  calls: SendRequest[];
  /** The ids of what it was asked to send, in order. */
  sent(): string[];
};

export const accepted = (providerMessageId: string): SendResult => ({
  outcome: "accepted",
  provider: "test",
  providerMessageId,
});
export const refused: SendResult = { outcome: "refused", reason: "Rejected: no such mailbox" };
export const transient: SendResult = { outcome: "transient", reason: "Down: the request was not written" };
export const unknown: SendResult = { outcome: "unknown", reason: "TimedOut: no answer" };
export const throttled: SendResult = {
  outcome: "throttled",
  reason: "Throttling: rate",
  retryAfterSeconds: 30,
  scope: "rate",
};

/** A channel that does what a test says with each notification; it accepts where the test says nothing. */
export function scriptedChannel(
  script: (
    request: SendRequest,
    call: number,
  ) => SendResult | undefined | Promise<SendResult | undefined> = () => undefined,
): ScriptedChannel {
  const calls: SendRequest[] = [];
  return {
    name: "email",
    calls,
    sent: () => calls.map(({ notificationId }) => notificationId),
    async send(request) {
      const call = calls.push(request);
      return (await script(request, call)) ?? accepted(`P-${request.notificationId}`);
    },
  };
}
