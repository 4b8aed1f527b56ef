import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** What AWS Secrets Manager answers to GetSecretValue: a secret's text, or an error by its name. */
export type Answer = { text: string } | { error: string; message: string };

export type SecretsManager = {
  endpoint: string;
  /** What it answers about its secret, until this is changed. */
  answer: Answer;
  /** What it answers before that, each once. */
  before: Answer[];
  stop(): Promise<void>;
};

/** The one secret that there is, over HTTP as the AWS SDK speaks it (JSON 1.1). */
export async function startSecretsManager(arn: string): Promise<SecretsManager> {
  const unknown: Answer = { error: "ResourceNotFoundException", message: "no such secret" };
  const server = createServer(async (request, response) => {
    const { SecretId } = (await json(request)) as { SecretId: string };
    const known = request.headers["x-amz-target"] === "secretsmanager.GetSecretValue" && SecretId === arn;
    const answer = known ? (manager.before.shift() ?? manager.answer) : unknown;
    const body =
      "error" in answer
        ? { __type: answer.error, message: answer.message }
        : { ARN: arn, SecretString: answer.text, VersionStages: ["AWSCURRENT"] };
    response.writeHead("error" in answer ? 400 : 200, { "content-type": "application/x-amz-json-1.1" });
    response.end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const manager: SecretsManager = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer: unknown,
    before: [],
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return manager;
}
