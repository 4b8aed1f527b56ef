import type { Hono } from "hono";
import { type Got, get } from "../testing/context.ts";

/** Follows a run's progress, as its page does, until it has ended. Returns the page then. */
export async function endOf(app: Hono, to: string): Promise<Got> {
  const path = to.split("?")[0] ?? "";
  for (let version = -1; ; ) {
    const answer: { version: number; ended: boolean } = JSON.parse(
      (await get(app, `${path}/progress?after=${version}`)).text,
    );
    if (answer.ended) return get(app, path);
    version = answer.version;
  }
}

/** A page's text as a person reads it, spaces made one. */
export const read = ({ text }: Pick<Got, "text">): string =>
  text
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ")
    .replaceAll("&#39;", "'");
