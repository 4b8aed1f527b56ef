import type { LedgerOptions } from "@owed/ledger";
import { resource } from "../resources.ts";
import { readMasterSecret } from "./master-secret.ts";

/**
 * How migrate reaches the database, by one connection: as the user that the linked Database names, or as RDS's master
 * user, whose secret is read now. Throws `InvalidResource` and `MasterSecretFailed`.
 *
 * @param deadline seconds
 */
export async function migratorOptions(deadline: number): Promise<LedgerOptions> {
  const link = resource("Database");
  const { host, port, database, tls } = link;
  const { username, password } =
    link.auth === "password" ? link : await readMasterSecret(resource("MasterSecret").arn);
  const options = { host, port, database, tls, applicationName: "owed-migrate", connections: 1, deadline };
  return { ...options, user: username, password };
}
