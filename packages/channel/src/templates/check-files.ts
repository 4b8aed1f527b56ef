import { readdirSync } from "node:fs";

/** The language files that lie beside locales/index.ts, by their tags. */
export const fileTags = (): string[] =>
  readdirSync(new URL("locales/", import.meta.url)).flatMap((name) =>
    name.endsWith(".json") ? [name.slice(0, -".json".length)] : [],
  );
