import { printable } from "@owed/cli/text/printable";
import { html } from "hono/html";
import type { Html } from "../page/page.ts";
import { time } from "../page/parts.ts";

const instant = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)/;

/**
 * A sentence of the ledger's as a page shows it: its times as people read them, and what would make a line read as
 * something else (bidirectional overrides among it) as an escape.
 */
export const said = (sentence: string): Html =>
  html`${sentence.split(instant).map((part, index) => {
    const at = index % 2 === 1 ? new Date(part) : null;
    return at && !Number.isNaN(at.getTime()) ? time(at) : printable(part);
  })}`;
