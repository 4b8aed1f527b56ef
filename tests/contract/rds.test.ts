import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Ledger, type LedgerOptions, migrate } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { recordOf } from "../../packages/functions/src/testing/records.ts";
import { type FunctionName, type FunctionProcess, startFunction } from "../support/function-process.ts";
import { master, type Rds, startRds } from "./rds.ts";
import { type RdsDoor, startRdsDoor } from "./rds-door.ts";
import { type SecretsManager, startSecretsManager } from "./secrets-manager.ts";

// The functions before an RDS: the tests follow one another, as deployments do.

const arn = "arn:aws:secretsmanager:us-east-1:000000000000:secret:rds!db-1";
const migrations = fileURLToPath(new URL("../../migrations", import.meta.url));
const roles = ["deliver", "feedback", "ingest", "operator", "platform", "reader", "sweep"].map(
  (who) => `owed_${who}`,
);

let rds: Rds;
let secrets: SecretsManager;
const running: FunctionProcess[] = [];
beforeAll(async () => {
  [rds, secrets] = await Promise.all([startRds(), startSecretsManager(arn)]);
});
afterAll(async () => {
  await Promise.all(running.map((one) => one.kill()));
  await Promise.all([rds.stop(), secrets.stop()]);
});

const link = (auth: object) => ({ host: rds.host, port: rds.port, database: "owed", tls: "verify", ...auth });
const linked = (resources: Record<string, object>) =>
  Object.fromEntries(
    Object.entries(resources).map(([name, value]) => [`SST_RESOURCE_${name}`, JSON.stringify(value)]),
  );

async function start(name: FunctionName, resources: Record<string, object>): Promise<FunctionProcess> {
  const environment = {
    ...linked({ App: { name: "owed", stage: "test" }, ...resources }),
    ...{ AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "test", AWS_SECRET_ACCESS_KEY: "test" },
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint,
    NODE_EXTRA_CA_CERTS: rds.caFile,
  };
  const process = await startFunction(name, { environment });
  running.push(process);
  return process;
}

const options = (more: Partial<LedgerOptions>): LedgerOptions => ({
  ...{ host: "127.0.0.1", port: rds.port, database: "owed", tls: "off", ...rds.superuser },
  ...{ applicationName: "test", connections: 1, deadline: 10, ...more },
});
const forgetRoles = async (...databases: string[]) => {
  for (const database of databases) await rds.sql.unsafe(`DROP DATABASE ${database} WITH (FORCE)`);
  await rds.sql.unsafe(`DROP ROLE ${roles.join(", ")}`);
};

describe("a cluster that has never seen the roles", () => {
  test("two of its databases are migrated at once", async () => {
    for (const name of ["one", "two"]) await rds.sql.unsafe(`CREATE DATABASE ${name}`);
    const both = ["one", "two"].map((database) => migrate(options({ database }), migrations));
    const [first, second] = await Promise.all(both);
    expect(second).toEqual(first);
    await forgetRoles("one", "two");
  });

  test("without IAM, who migrates may take the roles on, and has nothing by being their member", async () => {
    await rds.sql.unsafe("CREATE DATABASE built OWNER builder");
    const builder = { database: "built", user: "builder", password: "builder" };
    await migrate(options(builder), migrations);
    const ledger = new Ledger(options({ ...builder, role: "owed_reader" }));
    const asked = await ledger.run((sql) => sql`SELECT current_user, session_user`, { repeatable: true });
    expect(asked).toEqual([{ current_user: "owed_reader", session_user: "builder" }]);
    await ledger.close();
    expect(
      await rds.sql`
      SELECT DISTINCT m.inherit_option FROM pg_auth_members m WHERE m.member = 'builder'::regrole`,
    ).toEqual([{ inherit_option: false }]);
    await forgetRoles("built");
  });
});

describe("migrate logs in as the master user, whose secret it reads each time", () => {
  let door: RdsDoor;
  let migrator: FunctionProcess;
  const secretOf = (password: string) => ({
    text: JSON.stringify({ engine: "postgres", username: master.user, password }),
  });
  beforeAll(async () => {
    await rds.sql`CREATE ROLE rds_iam`;
    await rds.sql`GRANT rds_iam TO ${rds.sql(master.user)} WITH ADMIN OPTION, INHERIT FALSE, SET FALSE`;
    door = await startRdsDoor(rds);
    const iam = { ...link({ auth: "iam", region: "us-east-1" }), port: door.port };
    migrator = await start("migrate", { Database: iam, MasterSecret: { arn } });
  });
  beforeEach(() => {
    door.visitors.length = 0;
  });
  afterAll(() => door.stop());
  /** What the master user came with, in turn. */
  const shown = () =>
    door.visitors.map(({ user, password }) => {
      expect(user).toBe(master.user);
      return password.includes("X-Amz-Signature") ? "a token" : password;
    });

  test("who has another password, and may not connect by IAM: what was tried is told, and no secret", async () => {
    secrets.answer = secretOf("of-another");
    const error = await migrator.invoke({}).catch((error: Error) => error);
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /^migrate: MasterRefused: the ledger's database refuses the master user's password \(PAM .+\) and a token of IAM \(PAM .+\); check that MasterSecret is this database's, and that rds-db:connect is allowed/,
      ),
    });
    expect(String(error)).not.toMatch(/of-another|X-Amz/);
    expect(shown()).toEqual(["of-another", "a token"]);
  });

  test("whose password was rotated after it was read, and who is no superuser: the roles are made, and log in by IAM alone", async () => {
    secrets.before.push(secretOf("rotated-away"));
    secrets.answer = secretOf(master.password);
    const files = (await readdir(migrations)).filter((file) => file.includes(".do."));
    expect(await migrator.invoke({})).toEqual({ applied: expect.objectContaining({ length: files.length }) });
    expect(shown()).toEqual(["rotated-away", master.password]);
    expect(
      await rds.sql`
      SELECT r.rolname AS role, r.rolcanlogin AS login, a.rolpassword AS password, pg_has_role(r.oid, 'rds_iam', 'MEMBER') AS iam,
        r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolreplication OR r.rolbypassrls AS more,
        pg_has_role(${master.user}, r.oid, 'SET') AS taken_on
      FROM pg_roles r JOIN pg_authid a ON a.oid = r.oid WHERE starts_with(r.rolname, 'owed_') ORDER BY 1`,
    ).toEqual(
      roles.map((role) => ({ role, login: true, password: null, iam: true, more: false, taken_on: false })),
    );
  });

  test("who has made the roles, and so counts as a member of rds_iam: his password is refused, and a token lets him in", async () => {
    await expect(migrator.invoke({})).rejects.toThrow(/^migrate: MasterRefused: /);
    door.allowed.add(master.user);
    door.visitors.length = 0;
    expect(await migrator.invoke({})).toEqual({ applied: [] });
    expect(shown()).toEqual([master.password, "a token"]);
  });

  const denied = { error: "AccessDeniedException", message: "not authorized to perform GetSecretValue" };
  const hidden = "hidden-master-password";
  test.each([
    [
      "may not be read",
      denied,
      /can't be read \(AccessDeniedException: .+\); allow secretsmanager:GetSecretValue on it/,
    ],
    [
      "is not there",
      { error: "ResourceNotFoundException", message: "m" },
      /; link MasterSecret to a secret of this account and region$/,
    ],
    [
      "is no JSON",
      { text: hidden },
      /is not JSON; link MasterSecret to the one that RDS keeps for its master user$/,
    ],
    [
      "lacks a field",
      { text: JSON.stringify({ password: hidden }) },
      /is not a database user's \(username: is missing\); link MasterSecret/,
    ],
    [
      "has another type",
      { text: JSON.stringify({ username: "u", password: [hidden] }) },
      /\(password: must be string\); link MasterSecret/,
    ],
  ])("a secret that %s is named, with the way out and without what stands in it", async (_, answer, told) => {
    secrets.answer = answer;
    const error = await migrator.invoke({}).catch((error: Error) => error);
    expect(error).toMatchObject({ message: expect.stringMatching(told) });
    expect(error).toMatchObject({
      message: expect.stringContaining(`migrate: MasterSecretFailed: the secret ${arn} `),
    });
    expect(String(error)).not.toContain(hidden);
  });
});

test("a database that restarted between two invocations is found again, by a statement that is not simply repeated", async () => {
  const { user: username, password } = rds.superuser;
  const queue = { url: "http://127.0.0.1:1/000000000000/notification.fifo" };
  const deliver = await start("deliver", {
    Database: link({ auth: "password", username, password }),
    NotificationQueue: queue,
    Email: { sender: "updates@owed.example" },
  });
  const event = {
    Records: [recordOf(JSON.stringify({ id: "019d3c70-0000-7000-8000-000000000001", generation: 0 }))],
  };
  const gone = { batchItemFailures: [] };
  expect(await deliver.invoke(event)).toEqual(gone);
  await rds.restart();
  expect(await deliver.invoke(event)).toEqual(gone);
});

describe("TLS", () => {
  const run = promisify(execFile);
  /** What became of these connections in a process that trusts the CAs of a file besides Node's. */
  async function tryThem(caFile: string, given: LedgerOptions[]): Promise<string[]> {
    const program = fileURLToPath(new URL("try-connections.ts", import.meta.url));
    const env = { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: caFile, NODE_NO_WARNINGS: "1" };
    return JSON.parse((await run(process.execPath, [program, JSON.stringify(given)], { env })).stdout);
  }
  const secure = (more: Partial<LedgerOptions> = {}) => options({ tls: "verify", host: rds.host, ...more });

  test("connects to whom the CA vouches for, in the role asked for, and to nobody else", async () => {
    const plain = inject("cluster");
    expect(
      await tryThem(rds.caFile, [
        secure({ role: "owed_sweep" }),
        secure({ host: "127.0.0.1" }),
        secure({ ...plain, host: "localhost" }),
        options(master),
        secure({ database: "nowhere" }),
      ]),
    ).toEqual([
      "connected as owed_sweep",
      expect.stringMatching(
        /^the ledger's database has a certificate for another host \(Hostname\/IP does not match .+\); link the Database by a name that its certificate has/,
      ),
      expect.stringMatching(/^the ledger's database broke off before TLS \(.+\); switch TLS on there/),
      expect.stringMatching(
        /^the ledger's database takes no connection without TLS \(no pg_hba.conf entry .+, no encryption\); link the Database with tls 'verify'$/,
      ),
      expect.stringMatching(
        /^the ledger's database is not on that server \(database "nowhere" does not exist\); check/,
      ),
    ]);
  });

  test("a server of an unknown CA is not trusted, and it is said how it would be", async () => {
    expect(await tryThem("", [secure()])).toEqual([
      expect.stringMatching(
        /^the ledger's database has a certificate of a CA that this process does not know \(.+\); start it with NODE_EXTRA_CA_CERTS naming the CA's file$/,
      ),
    ]);
  });
});
