import { parseSettings, type Settings } from "@owed/functions/parse-settings";
import type { Stack } from "../stack/stack.ts";

/** What the linked `Settings` tell a function, with the functions' own defaults. */
export const linkedSettings = (stack: Stack, functionId: string): Settings =>
  parseSettings(stack.functions.find(({ id }) => id === functionId)?.links.Settings ?? {});
