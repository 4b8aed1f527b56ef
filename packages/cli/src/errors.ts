import { LedgerUnavailable, NotAllowed, NotificationNotFound, Refused } from "@owed/ledger";
import { CommanderError } from "commander";

/** What went wrong, for a program that reads it. */
export type Kind =
  | "usage"
  | "not_found"
  | "not_allowed"
  | "refused"
  | "unavailable"
  | "not_configured"
  | "failed";

/** The exit code of each kind; 0 is success. Told in `owed --help`. */
export const exitCodes = {
  failed: 1,
  unavailable: 1,
  not_configured: 1,
  usage: 2,
  not_found: 3,
  not_allowed: 3,
  refused: 3,
} as const satisfies Record<Kind, number>;

/** A command ended without doing what was asked. */
export class Failure extends Error {
  override readonly name = "Failure";
  readonly kind: Kind;

  constructor(kind: Kind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export type Circumstances = {
  /** The command writes to the ledger: a lost answer leaves it open whether it did. */
  writes: boolean;
  /** Where the configuration came from, and what to try when nothing answers. */
  hint: string;
};

/** Sorts whatever was thrown into a kind, with a message that names the cause and the way out. */
export function toFailure(error: unknown, { writes, hint }: Circumstances): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof CommanderError)
    return new Failure("usage", error.message.replace(/^error: /, ""), { cause: error });
  const message = messageOf(error);
  const because = { cause: error };
  if (error instanceof NotificationNotFound) return new Failure("not_found", message, because);
  if (error instanceof Refused) return new Failure("refused", message, because);
  if (error instanceof NotAllowed) return new Failure("not_allowed", message, because);
  if (error instanceof LedgerUnavailable) {
    if (isRefusal(error.cause)) return new Failure("not_configured", `${message}; ${hint}`, because);
    const open = writes && !error.certainlyNotRun;
    const look = "; it may have taken effect: look with 'owed show' or 'owed status' before you try again";
    return new Failure("unavailable", `${message}; ${hint}${open ? look : ""}`, because);
  }
  const name = error instanceof Error ? error.name : "";
  // Told by name: the classes' modules read the environment's links, which may not be there yet.
  if (name === "InvalidResource" || name === "InvalidSettings")
    return new Failure("not_configured", message, because);
  if (name === "PostgresError") return fromPostgres(error, message);
  // The AWS SDK attaches this to all that its calls throw, an answer of the service or none.
  if (error instanceof Error && "$metadata" in error)
    return new Failure(
      "unavailable",
      `SQS did not do what was asked (${name}: ${message}); ${hint}`,
      because,
    );
  return new Failure("failed", message, because);
}

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

/** The server is there, and lets us not in: SQLSTATE classes 28 and 3D; a role that is missing, or not to be had. */
const isRefusal = (cause: unknown): boolean => /^(28...|3D...|22023|42501)$/.test(codeOf(cause));

/** SQLSTATE classes 3F and 42: the schema is not there, or not this version's. */
function fromPostgres(error: unknown, message: string): Failure {
  const code = codeOf(error);
  const because = { cause: error };
  if (/^(3F|42)/.test(code))
    return new Failure(
      "not_configured",
      `the database has no ledger of this version (${message}); run the migrations: 'npm start' and each deployment do`,
      because,
    );
  return new Failure("failed", `the database answered ${code}: ${message}`, because);
}

/** An error's message; a refused connection to several addresses has none of its own. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message !== "") return error.message;
  return "code" in error ? String(error.code) : error.name;
}
