import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LocalPostgres } from "./postgres.ts";
import type { LocalSes } from "./ses/index.ts";
import type { LocalSms } from "./sms/index.ts";
import type { CreatedQueue, CreatedQueueWithDeadLetters, LocalSqs } from "./sqs/index.ts";
import type { LocalWebhooks } from "./webhook/index.ts";

export type Parts = {
  postgres: LocalPostgres;
  sqs: LocalSqs;
  ses: LocalSes;
  sms?: LocalSms;
  webhooks?: Pick<LocalWebhooks, "authority" | "allow"> & { key: string };
  queues: Record<"notification" | "event" | "feedback", CreatedQueueWithDeadLetters>;
  shadowQueue?: CreatedQueue | undefined;
  /** Overrides of the functions' settings. */
  settings: Record<string, unknown>;
};

/** All invocations run in one process here, and share its pace. */
const oneWorker = (settings: Record<string, unknown>) => ({
  ...settings,
  deliver: { concurrency: 1, ...Object(settings.deliver) },
});

/**
 * What SST and Lambda would put into the functions' environment, so that the same artefacts run here: linked
 * resources as `SST_RESOURCE_<Name>`, endpoints and credentials by the SDK's standard variables.
 */
export function environmentOf({
  postgres,
  sqs,
  ses,
  sms,
  webhooks,
  queues,
  shadowQueue,
  settings,
}: Parts): Record<string, string> {
  const resources = {
    App: { name: "owed", stage: "local" },
    Database: {
      host: postgres.host,
      port: postgres.port,
      database: postgres.database,
      auth: "password",
      username: postgres.user,
      password: postgres.password,
      tls: "off",
    },
    NotificationQueue: { url: queues.notification.url },
    NotificationDlq: queues.notification.deadLetters,
    EventQueue: { url: queues.event.url },
    EventDlq: queues.event.deadLetters,
    FeedbackQueue: { url: queues.feedback.url },
    FeedbackDlq: queues.feedback.deadLetters,
    ...(shadowQueue && { ShadowQueue: { url: shadowQueue.url } }),
    Email: { sender: "Parcel updates <updates@owed.example>", configurationSet: "owed" },
    ...(sms && { Sms: { originationIdentity: "owed-pool", configurationSet: "owed" } }),
    ...(webhooks && {
      WebhookKey: { value: webhooks.key },
      WebhookNetwork: { allow: webhooks.allow, ca: webhooks.authority },
    }),
    Settings: oneWorker(settings),
  };
  return {
    ...Object.fromEntries(
      Object.entries(resources).map(([name, value]) => [`SST_RESOURCE_${name}`, JSON.stringify(value)]),
    ),
    AWS_REGION: sqs.region,
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_ENDPOINT_URL_SQS: sqs.endpoint,
    AWS_ENDPOINT_URL_SES: ses.endpoint,
    ...(sms && { AWS_ENDPOINT_URL_PINPOINT_SMS_VOICE_V2: sms.endpoint }),
    // Nobody collects CloudWatch's metrics here; the stack prints each sweep's summary instead.
    POWERTOOLS_METRICS_DISABLED: "true",
  };
}

/** Leaves the environment where the command line finds it while the stack runs. Readable by its owner alone: it has the password. */
export async function announce(
  folder: string,
  environment: Record<string, string>,
): Promise<() => Promise<void>> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, "env.json");
  await writeFile(`${file}.new`, `${JSON.stringify(environment, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return () => rm(file, { force: true });
}
