import { Resource } from "sst/resource";
import { parseSettings, type Settings } from "./parse-settings.ts";

export { InvalidSettings, parseSettings, type Settings } from "./parse-settings.ts";

/** The settings linked to this function, or the defaults. */
export const readSettings = (): Settings =>
  parseSettings("Settings" in Resource ? Reflect.get(Resource, "Settings") : {});
