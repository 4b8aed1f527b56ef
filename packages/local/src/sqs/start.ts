import { ACCOUNT_ID } from "./backend.ts";
import type { SqsFaults } from "./faults.ts";
import { Front } from "./front.ts";
import { serve } from "./http.ts";

export interface LocalSqs {
  /** Where the SDK's `endpoint` or AWS_ENDPOINT_URL_SQS must point; queue URLs begin with it. */
  readonly endpoint: string;
  /** The only region that is served: a client of another region is refused, as by AWS's regional endpoints. */
  readonly region: string;
  readonly accountId: string;
  readonly faults: SqsFaults;
  /** Ends waiting receives, forgets all queues and closes the port. */
  stop(): Promise<void>;
}

/**
 * SQS on this machine, in memory: fauxqs behind a front that adds what AWS does and fauxqs does not.
 * It differs from AWS still: the retention period is not kept, an expired receipt handle deletes while
 * nobody receives, DeduplicationScope is not followed, and a receive returns one message of a group at most.
 *
 * @throws PortTaken
 */
export async function startSqs(
  options: {
    port?: number;
    region?: string;
    setting?: string;
    /** Milliseconds, for the deduplication window: a test's whose time passes faster. */
    clock?: () => number;
  } = {},
): Promise<LocalSqs> {
  const { port = 0, region = "us-east-1", setting = "the port of SQS" } = options;
  const front = new Front(region, options.clock);
  const server = await serve(port, setting, (exchange) => front.answer(exchange));
  front.endpoint = server.endpoint;
  return {
    endpoint: server.endpoint,
    region,
    accountId: ACCOUNT_ID,
    faults: front.faults,
    async stop() {
      await server.stop();
      await front.stop();
    },
  };
}
