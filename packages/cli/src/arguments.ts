import { userInfo } from "node:os";
import { isInstant } from "@owed/functions/instant";
import { type Command, InvalidArgumentError } from "commander";
import { Failure } from "./errors.ts";

/** A notification's id, in the form that the ledger prints. */
export function notificationId(given: string): string {
  const id = given.trim().toLowerCase();
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))
    throw new InvalidArgumentError(
      "A notification's id looks like 0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001; 'owed audit' and 'owed dead' list them.",
    );
  return id;
}

/** Several of them, one argument each; the same id twice counts once. */
export const notificationIds = (given: string, before: string[] | undefined): string[] => [
  ...new Set([...(before ?? []), notificationId(given)]),
];

/** Ids of refused events, one argument each, as 'owed refused' lists them. */
export function refusedIds(given: string, before: string[] | undefined): string[] {
  if (!/^[1-9]\d{0,17}$/.test(given))
    throw new InvalidArgumentError("A refused event's id is a whole number; 'owed refused' lists them.");
  return [...new Set([...(before ?? []), given])];
}

/** A text that says something: a blank filter would match everything, a blank reason explains nothing. */
export function text(given: string): string {
  const trimmed = given.trim();
  if (trimmed === "" || trimmed.length > 1000)
    throw new InvalidArgumentError("It must have 1 to 1,000 characters.");
  return trimmed;
}

/** A time that exists, in RFC 3339 with its offset. */
export function instant(given: string): string {
  if (!isInstant(given))
    throw new InvalidArgumentError(
      "It must be a time that exists, with its offset, such as 2026-03-29T09:30:00+02:00 (RFC 3339).",
    );
  return given;
}

const units: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** A duration such as `90m`, `24h` or `1d12h`, in seconds. */
export function duration(given: string): number {
  const parts = [...given.matchAll(/(\d{1,9})([smhd])/g)];
  if (parts.map(([part]) => part).join("") !== given || parts.length === 0)
    throw new InvalidArgumentError("It must be a duration such as 45s, 90m, 24h, 7d or 1d12h.");
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit ?? ""] ?? 0), 0);
}

/** A time of day on a 24-hour clock. */
export function timeOfDay(given: string): string {
  if (!/^([01]\d|2[0-3]):[0-5]\d$/.test(given))
    throw new InvalidArgumentError("It must be a time of day such as 09:00.");
  return given;
}

/** A count of rows from 1 to `most`. */
export const limit =
  (most: number) =>
  (given: string): number => {
    const count = Number(given);
    if (!/^\d+$/.test(given) || count < 1 || count > most)
      throw new InvalidArgumentError(`It must be a whole number from 1 to ${most.toLocaleString("en")}.`);
    return count;
  };

/** Who does it, for the record: `--actor`, else OWED_ACTOR, else the user of this machine. Throws `usage` when nobody is named. */
export function actorOf(command: Command, env: NodeJS.ProcessEnv = process.env): string {
  const { actor } = command.optsWithGlobals<{ actor?: string }>();
  const name = (actor ?? env.OWED_ACTOR ?? "").trim() || systemUser();
  if (name === "" || name.length > 100 || /\p{Cc}/u.test(name))
    throw new Failure(
      "usage",
      "who does this? Name yourself with --actor or OWED_ACTOR (1 to 100 characters)",
    );
  return name;
}

/** In a container the user's number may have no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return "";
  }
}
