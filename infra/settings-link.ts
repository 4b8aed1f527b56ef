import { settings } from "./stage.ts";

/** The functions' own settings, as they read them. */
export const settingsLink = new sst.Linkable("Settings", { properties: settings.functions });
