import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { recordOf } from "../../packages/functions/src/testing/records.ts";
import { createAuthority } from "../../packages/local/src/certificates.ts";
import { makeFolder } from "../support/folder.ts";
import { type FunctionProcess, startFunction } from "../support/function-process.ts";
import { type LoginDesk, startLoginDesk } from "./login-desk.ts";

let folder: string;
let desk: LoginDesk;
let ingest: FunctionProcess;
let logged = "";
beforeAll(async () => {
  folder = await makeFolder("iam");
  const authority = createAuthority("The CA of a test");
  desk = await startLoginDesk(authority.issue("localhost"));
  const caFile = join(folder, "ca.pem");
  await writeFile(caFile, authority.certificate);
  const region = "eu-central-1";
  const links = {
    App: { name: "owed", stage: "test" },
    Database: { host: "localhost", port: desk.port, database: "owed", tls: "verify", auth: "iam", region },
    EventQueue: { url: "http://127.0.0.1:1/000000000000/event" },
    NotificationQueue: { url: "http://127.0.0.1:1/000000000000/notification.fifo" },
  };
  const environment = {
    ...Object.fromEntries(
      Object.entries(links).map(([name, link]) => [`SST_RESOURCE_${name}`, JSON.stringify(link)]),
    ),
    ...{ AWS_REGION: region, AWS_ACCESS_KEY_ID: "AKIATEST", AWS_SECRET_ACCESS_KEY: "secret-of-a-test" },
    ...{ AWS_MAX_ATTEMPTS: "1", NODE_EXTRA_CA_CERTS: caFile, POWERTOOLS_LOG_LEVEL: "WARN" },
  };
  ingest = await startFunction("ingest", { environment, log: (text) => (logged += text) });
});
afterAll(async () => {
  await ingest.kill();
  await desk.stop();
  await rm(folder, { recursive: true, force: true });
});

/** When the tokens were signed that came in one invocation, in seconds since the epoch, and for how long they are good. */
async function signedIn(frozenFor: number): Promise<{ at: number; good: number }[]> {
  desk.visitors.length = 0;
  const record = recordOf("no event, to be kept");
  const answer = await ingest.invoke({ Records: [record] }, { frozenFor });
  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: record.messageId }] });
  return desk.visitors.map(({ user, password }) => {
    const { searchParams } = new URL(`https://${password}`);
    expect([user, searchParams.get("DBUser")]).toEqual(["owed_ingest", "owed_ingest"]);
    const date = searchParams.get("X-Amz-Date") ?? "";
    const at = date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, "$1-$2-$3T$4:$5:$6Z");
    return { at: Date.parse(at) / 1000, good: Number(searchParams.get("X-Amz-Expires")) };
  });
}

test("a token that has expired since the last invocation does not come again", async () => {
  const before = await signedIn(0);
  expect(before.length).toBeGreaterThan(0);
  const after = await signedIn(20 * 60);
  expect(after.length).toBeGreaterThan(0);
  const last = Math.max(...before.map(({ at, good }) => at + good));
  for (const { at } of after) expect(at).toBeGreaterThan(last);
});

test("and where RDS takes none, the log says what is to be allowed, and no token", () => {
  expect(logged).toMatch(
    /the ledger's database refuses the login \(PAM authentication failed for user \\"owed_ingest\\"\); check .+ that rds-db:connect is allowed for this user and that the migrations have run/,
  );
  expect(logged).not.toMatch(/X-Amz|secret-of-a-test/);
});
