import { afterEach, expect, test, vi } from "vitest";
import { signToken } from "./iam.ts";

afterEach(() => vi.unstubAllEnvs());

const server = { host: "db.internal", port: 5432, region: "eu-central-1", user: "owed_deliver" };
const signAs = async (id: string) => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", id);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  vi.stubEnv("AWS_SESSION_TOKEN", `session-of-${id}`);
  const token = new URL(`https://${await signToken(server)}`);
  return { host: token.host, path: token.pathname, query: Object.fromEntries(token.searchParams) };
};

test("a token lets one user into one server for a quarter of an hour, by the credentials of this moment", async () => {
  const first = await signAs("AKIAFIRST");
  expect(first).toMatchObject({
    host: "db.internal:5432",
    path: "/",
    query: {
      Action: "connect",
      DBUser: "owed_deliver",
      "X-Amz-Expires": "900",
      "X-Amz-Credential": expect.stringMatching(/^AKIAFIRST\/\d{8}\/eu-central-1\/rds-db\/aws4_request$/),
      "X-Amz-Security-Token": "session-of-AKIAFIRST",
    },
  });
  const { query } = await signAs("AKIASECOND");
  expect(query["X-Amz-Credential"]).toMatch(/^AKIASECOND\//);
  expect(query["X-Amz-Security-Token"]).toBe("session-of-AKIASECOND");
});
