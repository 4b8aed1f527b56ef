import { printable } from "@owed/cli/text/printable";
import { html } from "hono/html";
import type { Context } from "../context.ts";
import type { Html } from "../page/page.ts";

/** One word of a shell's line, whatever is in it: who copies it runs this command and no other. */
const quoted = (word: string): string =>
  /^[\w.:@/-]+$/.test(word) ? word : `'${printable(word).replaceAll("'", `'\\''`)}'`;

/** The line that does it, to copy. The local stack is found by itself, a deployed one by SST's links. */
export const lineOf = ({ stage }: Pick<Context, "stage">, words: readonly string[]): string =>
  `${stage === "local" ? "" : `npx sst shell --stage ${quoted(stage)} -- `}npm run owed -- ${words.map(quoted).join(" ")}`;

export const commandLine = (context: Context, words: readonly string[]): Html =>
  html`<pre tabindex="0"><code>${lineOf(context, words)}</code></pre>`;
