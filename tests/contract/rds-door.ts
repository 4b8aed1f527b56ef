import { readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import postgres from "postgres";
import { type LoginDesk, next, startLoginDesk, type Visitor } from "./login-desk.ts";
import type { Rds } from "./rds.ts";

/** What stands before an RDS: PAM for members of `rds_iam`, which takes a token and no password. */
export type RdsDoor = LoginDesk & {
  /** The database users whom IAM's policies allow rds-db:connect. */
  allowed: Set<string>;
};

/** The role by which the door itself reaches the server, in its visitors' roles. */
const porter = { user: "porter", password: "password-of-the-porter" };

export async function startRdsDoor(rds: Rds): Promise<RdsDoor> {
  await rds.sql.unsafe(`CREATE ROLE ${porter.user} LOGIN SUPERUSER PASSWORD '${porter.password}'`);
  const allowed = new Set<string>();
  const desk = await startLoginDesk(rds.certificate, async (visitor) => {
    const known = (await countsAsMember(rds, visitor.user))
      ? allowed.has(visitor.user) && isToken(visitor)
      : await isPassword(rds, visitor);
    return known ? enter(rds, visitor.user) : null;
  });
  return { ...desk, allowed };
}

/**
 * As `+rds_iam` in pg_hba.conf has it: by any membership, of whatever options and by however many roles. Who may grant
 * rds_iam here is a member by that alone, as RDS's master user is not.
 */
async function countsAsMember({ sql }: Rds, user: string): Promise<boolean> {
  const [found] = await sql`
    SELECT FROM pg_auth_members WHERE member = to_regrole(${user})
      AND CASE roleid WHEN to_regrole('rds_iam') THEN NOT admin_option ELSE pg_has_role(roleid, to_regrole('rds_iam'), 'MEMBER') END`;
  return found !== undefined;
}

/** Signed for this user a moment ago. */
function isToken({ user, password }: Visitor): boolean {
  const token = URL.canParse(`https://${password}`) ? new URL(`https://${password}`) : null;
  return token?.searchParams.get("DBUser") === user && token.searchParams.has("X-Amz-Signature");
}

async function isPassword({ host, port, caFile }: Rds, visitor: Visitor): Promise<boolean> {
  const ssl = { ca: await readFile(caFile), servername: host };
  const sql = postgres({
    host: "127.0.0.1",
    port,
    database: "owed",
    max: 1,
    fetch_types: false,
    ssl,
    ...visitor,
  });
  return sql`SELECT`.then(
    () => sql.end().then(() => true),
    () => sql.end({ timeout: 0 }).then(() => false),
  );
}

/** A session in the visitor's role, and what the server says when it has begun. */
async function enter({ port }: Rds, role: string): Promise<{ session: Socket; first: Buffer }> {
  const session = connect(port, "127.0.0.1");
  const parameters = [
    "user",
    porter.user,
    "database",
    "owed",
    "role",
    role,
    "application_name",
    "owed-migrate",
  ];
  const startup = Buffer.from(`\0\0\0\0\0\x03\0\0${parameters.join("\0")}\0\0`);
  startup.writeUInt32BE(startup.length);
  session.write(startup);
  await next(session); // AuthenticationCleartextPassword
  const password = Buffer.from(`p\0\0\0\0${porter.password}\0`);
  password.writeUInt32BE(password.length - 1, 1);
  session.write(password);
  return { session, first: await next(session) };
}
