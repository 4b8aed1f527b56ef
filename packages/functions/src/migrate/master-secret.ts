import { GetSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import * as v from "valibot";
import { namedIssues } from "../issues.ts";

const schema = v.object({ username: v.string(), password: v.string() });

export type MasterUser = v.InferOutput<typeof schema>;

/** The master user's secret could not be read, or is not one. Nothing of what stands in it is told. */
export class MasterSecretFailed extends Error {
  override readonly name = "MasterSecretFailed";
}

/**
 * Reads the database's master user from AWS Secrets Manager, as it is at this moment: RDS may rotate the password
 * between any two calls. Throws `MasterSecretFailed`.
 *
 * @param arn of a secret whose value is JSON with `username` and `password`, as RDS itself makes it
 */
export async function readMasterSecret(arn: string): Promise<MasterUser> {
  const parsed = v.safeParse(schema, parse(arn, await fetchSecret(arn)));
  if (parsed.success) return parsed.output;
  throw new MasterSecretFailed(
    `the secret ${arn} is not a database user's (${namedIssues(parsed.issues, "it")}); link MasterSecret to the one that RDS keeps for its master user`,
  );
}

async function fetchSecret(arn: string): Promise<string> {
  // Without a way there, a function in a VPC would wait until its own timeout, and say nothing.
  const requestHandler = new NodeHttpHandler({
    connectionTimeout: 2000,
    requestTimeout: 5000,
    throwOnRequestTimeout: true,
  });
  const client = new SecretsManagerClient({ maxAttempts: 3, requestHandler });
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: arn }));
    return SecretString ?? "";
  } catch (error) {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    throw new MasterSecretFailed(`the secret ${arn} can't be read (${name}: ${message}); ${wayOut(name)}`, {
      cause: error,
    });
  } finally {
    client.destroy();
  }
}

function wayOut(name: string): string {
  if (name === "AccessDeniedException")
    return "allow secretsmanager:GetSecretValue on it, and kms:Decrypt on a key of your own, to this function's role";
  if (name === "ResourceNotFoundException") return "link MasterSecret to a secret of this account and region";
  return "check that Secrets Manager can be reached from here: a function in a VPC needs its endpoint, or NAT";
}

function parse(arn: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message would quote the text.
    throw new MasterSecretFailed(
      `the secret ${arn} is not JSON; link MasterSecret to the one that RDS keeps for its master user`,
    );
  }
}
