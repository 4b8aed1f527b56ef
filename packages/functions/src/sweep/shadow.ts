import type { SQSClient } from "@aws-sdk/client-sqs";
import { type Ledger, markShadow, takeShadow } from "@owed/ledger";
import { publish } from "../publish/publish.ts";
import type { Settings } from "../settings.ts";

export type Shadow = {
  ledger: Ledger;
  sqs: SQSClient;
  shadowQueueUrl?: string | null | undefined;
  settings: Settings;
  /** False once the sweep's budget has ended. */
  inTime: () => boolean;
  onError?: ((message: string, error: unknown) => void) | undefined;
};

/**
 * Publishes what Owed would send for merchants in shadow, as it would publish it, to the queue that nobody consumes.
 * What SQS refuses or does not answer for is left to the next sweep. Returns how many were published. Never throws:
 * watching must not disturb what is really sent.
 */
export async function publishShadow(context: Shadow): Promise<number> {
  const { ledger, sqs, shadowQueueUrl, settings, inTime, onError } = context;
  if (!shadowQueueUrl) return 0;
  const { slice, lanes } = settings.sweep;
  const held = new Map<string, number>();
  let published = 0;
  try {
    while (inTime()) {
      const { due, moot } = await takeShadow(ledger, slice);
      const { accepted, refusal } = await publish(due, {
        sqs,
        queueUrl: shadowQueueUrl,
        lanes,
        held,
        lease: settings.durations.lease,
        mayCall: inTime,
      });
      await markShadow(
        ledger,
        accepted.map(({ id }) => id),
      );
      published += accepted.length;
      if (refusal !== null) onError?.("SQS refused what was published in shadow", new Error(refusal));
      // Those that are left would be taken again, and met with the same answer.
      if (due.length + moot < slice || accepted.length < due.length) break;
    }
  } catch (error) {
    onError?.("what is owed could not be published in shadow", error);
  }
  return published;
}
