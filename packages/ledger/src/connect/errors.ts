import { type Advice, absent, adviceOn, refused } from "./advice.ts";

/** The database can't be reached, lets us not in, or went away: nothing is wrong with the statement. */
export class LedgerUnavailable extends Error {
  override readonly name = "LedgerUnavailable";
  /** False when the statement may have taken effect although its answer was lost. */
  readonly certainlyNotRun: boolean;
  /** True when the server takes no login by this user with this password. */
  readonly loginRefused: boolean;

  constructor(cause: unknown, certainlyNotRun: boolean, advice: Advice = adviceOn(cause) ?? absent) {
    const { what, way } = advice;
    const why = cause instanceof Error ? cause.message : String(cause);
    super(`${what} (${why}); ${way}`, { cause });
    this.certainlyNotRun = certainlyNotRun;
    this.loginRefused = advice === refused;
  }
}

/** No such notification. */
export class NotificationNotFound extends Error {
  override readonly name = "NotificationNotFound";

  constructor(id: string) {
    super(
      `there is no notification ${id}; 'owed audit --shipment S' lists a shipment's notifications with their ids`,
    );
  }
}

/** The row's state does not allow what was asked. */
export class NotAllowed extends Error {
  override readonly name = "NotAllowed";
}

/** What was given can't be taken: one field of it, and why. The value is left out, since it may be an address. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly field: string;
  readonly reason: string;

  constructor(field: string, reason: string, options?: ErrorOptions) {
    super(`${field} ${reason}`, options);
    this.field = field;
    this.reason = reason;
  }
}

/** The field and the reason that one of the ledger's functions refused its arguments for (OW003); null for any other error. */
export function refusedBy(error: unknown): { field: string; reason: string } | null {
  if (codeOf(error) !== "OW003" || !(error instanceof Error) || !("column_name" in error)) return null;
  const field = String(error.column_name);
  return { field, reason: error.message.slice(field.length + 1) };
}

/** The schema was not brought up to date, and is as it was before. */
export class MigrationFailed extends Error {
  override readonly name = "MigrationFailed";

  constructor(what: string, cause?: unknown) {
    super(cause instanceof Error ? `${what} (${cause.message})` : what, { cause });
  }
}

const certainlyNotRun = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "CONNECT_TIMEOUT",
  // The running statement was rolled back (one that was committed a moment before, and had not answered, is the
  // exception that a claim's and a heartbeat's guards make harmless); or the driver's next statement got the farewell.
  "57P01", // admin_shutdown
  "57P02", // crash_shutdown
  "57P03", // cannot_connect_now: starting up or in recovery
  "57P05", // idle_session_timeout
  "57014", // query_canceled: it ran into its time limit and was rolled back
  "55P03", // lock_not_available: the same for a lock, e.g. a migration's
  "53100", // disk_full
  "25006", // read_only_sql_transaction: the server that was the primary before a failover
]);

const answerLost = new Set([
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "CONNECTION_CLOSED",
  "CONNECTION_ENDED",
  "CONNECTION_DESTROYED",
]);

/** Rolled back because of another transaction: safe to run again at once. */
const conflicts = new Set(["40P01", "40001"]);

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

export const isConflict = (error: unknown): boolean => conflicts.has(codeOf(error));

/**
 * PostgreSQL's detail quotes whole rows, addresses included: it must not reach a log, whoever writes it. Code,
 * message and constraint say enough.
 */
export function withoutRows(error: unknown): unknown {
  if (error instanceof Error)
    for (const quotes of ["detail", "where", "internal_query", "parameters", "args"])
      Reflect.deleteProperty(error, quotes);
  return error;
}

/** A row stayed locked by somebody else for longer than a statement waits. */
export const isLocked = (error: unknown): boolean =>
  error instanceof LedgerUnavailable && codeOf(error.cause) === "55P03";

/** The server does not write: after a failover it is the wrong one. */
export const isReadOnly = (error: unknown): boolean => codeOf(error) === "25006";

/** Wraps what says that the database is away; returns null for every other error. */
export function asUnavailable(error: unknown): LedgerUnavailable | null {
  if (error instanceof LedgerUnavailable) return error;
  const code = codeOf(error);
  if (certainlyNotRun.has(code) || adviceOn(error)) return new LedgerUnavailable(error, true);
  if (answerLost.has(code)) return new LedgerUnavailable(error, false);
  return null;
}
