import type { LedgerOptions } from "./ledger.ts";
import type { Login } from "./login.ts";

/** How every client of the ledger reaches its database: the statements' and the migrations'. */
export const accessOf = ({ host, port, database, user, tls }: LedgerOptions, { password }: Login) => ({
  host,
  port,
  database,
  user,
  password,
  ssl: tls === "verify" ? { rejectUnauthorized: true, servername: host } : (false as const),
  // Seconds; the driver's default of 30 outlasts the functions.
  connect_timeout: 4,
  // The driver's own query for types kills the process when it fails.
  fetch_types: false,
  onnotice: () => {},
});
