import { SQSClient } from "@aws-sdk/client-sqs";
import { environmentOf } from "../../packages/local/src/environment.ts";
import { type LocalSes, startSes } from "../../packages/local/src/ses/index.ts";
import { createQueues, QUEUES, startSqs } from "../../packages/local/src/sqs/index.ts";
import { type PostgresProxy, startProxy } from "../faults/world/proxy.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";

/** What functions in processes of their own work with; they reach the database by way of a network that can break. */
export type Setting = TestDatabase & {
  network: PostgresProxy;
  ses: LocalSes;
  environment: Record<string, string>;
  stop(): Promise<void>;
};

export async function startSetting(settings: Record<string, unknown>): Promise<Setting> {
  const [database, sqs, ses] = await Promise.all([createDatabase(), startSqs(), startSes()]);
  const { host, port, user, password } = database.options;
  if (typeof password !== "string") throw new Error("a test's database has a password");
  const network = await startProxy({ host, port });
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = new SQSClient({ endpoint: sqs.endpoint, region: sqs.region, credentials });
  const queues = await createQueues(client, QUEUES);
  client.destroy();
  const nothing = async () => {};
  const server = { host, port: network.port, user, password, database: database.options.database };
  const postgres = { ...server, pid: 0, stop: nothing, kill: nothing };
  return {
    ...database,
    network,
    ses,
    environment: environmentOf({ postgres, sqs, ses, queues, settings }),
    async stop() {
      await Promise.all([network.stop(), ses.stop(), sqs.stop()]);
      await database.drop();
    },
  };
}
