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
export const refused: SendResult = {
  outcome: "refused",
  reason: "Rejected: no such mailbox",
  answered: true,
};
export const transient: SendResult = {
  outcome: "transient",
  reason: "Down: the request was not written",
  answered: false,
};
export const unknown: SendResult = { outcome: "unknown", reason: "TimedOut: no answer" };
/** A rate that was exceeded for a moment: the provider does not say for how long. */
export const slowDown: SendResult = {
  outcome: "throttled",
  reason: "Throttling: rate",
  retryAfterSeconds: null,
  scope: "rate",
};
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

/** A channel that says the same of every notification. */
export const always = (result: SendResult): ScriptedChannel => scriptedChannel(() => result);
