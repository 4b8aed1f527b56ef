import { PurgeQueueCommand } from "@aws-sdk/client-sqs";
import type { Sandbox } from "@owed/console";
import type { Demo } from "./demo.ts";
import type { Stack } from "./stack.ts";

/** The levers that the console shows on this machine. */
export function createSandbox(
  stack: Pick<Stack, "ses" | "sms" | "webhooks" | "client" | "queues"> & {
    schedule: Pick<Stack["schedule"], "trigger">;
  },
  demo: Pick<Demo, "happen">,
): Sandbox {
  return {
    mailboxUrl: stack.ses.mailboxUrl,
    happen: demo.happen,
    sweep: () => stack.schedule.trigger(),
    provider: createOutage(stack),
    async purgeQueue() {
      await stack.client.send(new PurgeQueueCommand({ QueueUrl: stack.queues.notification.url }));
    },
  };
}

/** Providers that answer every send with an error of theirs, as one that is down does. */
function createOutage({ ses, sms, webhooks }: Pick<Stack, "ses" | "sms" | "webhooks">): Sandbox["provider"] {
  const error = { status: 503, code: "ServiceUnavailable", message: "The provider was stopped." };
  let undo: (() => void)[] = [];
  return {
    get stopped() {
      return undo.length > 0;
    },
    stop() {
      if (undo.length > 0) return;
      undo = [
        ses.faults.add(() => ({ error })),
        sms.faults.add(() => ({ error })),
        webhooks.faults.add(() => ({ status: error.status })),
      ];
    },
    start() {
      for (const take of undo) take();
      undo = [];
    },
  };
}
