import { type LedgerOptions, LedgerUnavailable } from "@owed/ledger";
import { signToken } from "../iam.ts";
import { resource } from "../resources.ts";
import { readMasterSecret } from "./master-secret.ts";

/**
 * The ways by which migrate may reach the database, by one connection each, to be tried until one is not refused: as the
 * user that the linked Database names, or as RDS's master user. The latter's secret is read anew when it was refused,
 * since it may have been rotated meanwhile. RDS takes a token of IAM in place of his password as soon as it counts him
 * as a member of `rds_iam`: PostgreSQL 16 and later make whoever creates a role a member of it, and the roles of this
 * ledger are members of `rds_iam`. Throws `InvalidResource` and `MasterSecretFailed`.
 *
 * @param deadline seconds
 */
export async function* migratorLogins(deadline: number): AsyncGenerator<LedgerOptions, void> {
  const link = resource("Database");
  const { host, port, database, tls } = link;
  const options = { host, port, database, tls, applicationName: "owed-migrate", connections: 1, deadline };
  if (link.auth === "password") {
    yield { ...options, user: link.username, password: link.password };
    return;
  }
  const { arn } = resource("MasterSecret");
  const first = await readMasterSecret(arn);
  yield { ...options, user: first.username, password: first.password };
  const again = await readMasterSecret(arn);
  const user = again.username;
  if (again.password !== first.password || user !== first.username)
    yield { ...options, user, password: again.password };
  yield { ...options, user, password: () => signToken({ host, port, region: link.region, user }) };
}

/** The database takes migrate's user neither by his password nor by a token. */
export class MasterRefused extends Error {
  override readonly name = "MasterRefused";

  constructor(refusals: readonly LedgerUnavailable[]) {
    const told = refusals.map(({ cause }) => (cause instanceof Error ? cause.message : String(cause)));
    super(
      `the ledger's database refuses the master user's password (${told.slice(0, -1).join("; ")}) and a token of IAM (${told.at(-1)}); check that MasterSecret is this database's, and that rds-db:connect is allowed for its user to this function's role`,
      { cause: refusals.at(-1) },
    );
  }
}

/**
 * Does `work` by the first login that is not refused, and returns its answer. Throws what `work` throws,
 * or `MasterRefused`.
 */
export async function byAnyLogin<T>(
  logins: AsyncIterable<LedgerOptions>,
  work: (options: LedgerOptions) => Promise<T>,
): Promise<T> {
  const refusals: LedgerUnavailable[] = [];
  for await (const options of logins)
    try {
      return await work(options);
    } catch (error) {
      if (!(error instanceof LedgerUnavailable && error.loginRefused)) throw error;
      refusals.push(error);
    }
  const [only, ...others] = refusals;
  throw only && others.length === 0 ? only : new MasterRefused(refusals);
}
