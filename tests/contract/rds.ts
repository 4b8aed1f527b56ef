import { chown, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import postgres from "postgres";
import { type Certificate, createAuthority } from "../../packages/local/src/certificates.ts";
import { type LocalPostgres, startPostgres } from "../../packages/local/src/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { makeFolder } from "../support/folder.ts";

/** Whoever the instance was made with: no superuser, and may make roles. */
export const master = { user: "master", password: "first-master-password" };

/** What RDS is to its clients, as far as a PostgreSQL of a test's own can be it. */
export type Rds = {
  /** As its certificate has it. */
  host: string;
  port: number;
  /** The certificate of its CA, in a file. */
  caFile: string;
  /** Its own certificate. */
  certificate: Certificate;
  /** The superuser, as nobody is on RDS: to arrange and to look. */
  sql: postgres.Sql;
  superuser: { user: string; password: string };
  restart(): Promise<void>;
  stop(): Promise<void>;
};

/** It takes TLS alone, but from its superuser, from `builder`, who may make roles as well, and from its door's porter. */
const access = `
host    all porter           127.0.0.1/32 password
host    all postgres,builder 127.0.0.1/32 scram-sha-256
hostssl all all              127.0.0.1/32 scram-sha-256
`;

export async function startRds(): Promise<Rds> {
  const folder = await makeFolder("rds");
  const start = (port: number): Promise<LocalPostgres> =>
    startPostgres({ folder: join(folder, "postgres"), port, database: "owed", durable: false });
  let server = await start(0);
  const { port, user, password } = server;
  const connection = { host: server.host, port, user, password, database: server.database };
  const sql = postgres({ ...connection, max: 1, onnotice: () => {} });

  const host = "localhost";
  const authority = createAuthority("The CA of a test");
  const own = authority.issue(host);
  const [{ data = "" } = {}] = await sql<
    { data: string }[]
  >`SELECT current_setting('data_directory') AS data`;
  const { uid, gid } = await stat(data);
  for (const [name, text] of Object.entries({
    "server.crt": own.certificate,
    "server.key": own.key,
    "pg_hba.conf": access,
  })) {
    await writeFile(join(data, name), text, { mode: 0o600 });
    await chown(join(data, name), uid, gid);
  }
  const caFile = join(folder, "ca.pem");
  await writeFile(caFile, authority.certificate);
  await sql`ALTER SYSTEM SET ssl = on`;
  await sql.unsafe(`
    CREATE ROLE ${master.user} LOGIN CREATEROLE PASSWORD '${master.password}';
    CREATE ROLE builder LOGIN CREATEROLE PASSWORD 'builder'`);
  await sql`GRANT CREATE ON DATABASE owed TO ${sql(master.user)}`;
  await sql`SELECT pg_reload_conf()`;
  await eventually(async () => {
    const [row] = await sql<{ on: boolean }[]>`
      SELECT current_setting('ssl') = 'on' AND EXISTS (SELECT FROM pg_hba_file_rules WHERE 'builder' = ANY(user_name)) AS on`;
    if (!row?.on) throw new Error("TLS is not on yet");
  });
  return {
    host,
    port,
    caFile,
    certificate: own,
    sql,
    superuser: { user, password },
    async restart() {
      await server.stop();
      server = await start(port);
    },
    async stop() {
      await sql.end({ timeout: 1 });
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
