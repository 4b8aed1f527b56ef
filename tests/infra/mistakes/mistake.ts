import type { GivenSettings } from "../../../infra/settings.ts";

/** In a file of infra/, one text put for another that is there once. */
export type Edit = [file: string, text: string, instead: string];

/**
 * Something that somebody could get wrong, and what notices:
 * - `rule`: the rule of that name, in a synthesis that succeeds;
 * - `synthesis`: the program, or SST, refuses it with such an error;
 * - `types`: `tsc` refuses it with such an error;
 * - `settingsError`: the settings of a stage are refused with such an error.
 */
export type Mistake = {
  name: string;
  edits?: Edit[];
  /** production when absent. */
  stage?: string;
  dev?: boolean;
  settings?: GivenSettings;
} & ({ rule: string } | { synthesis: RegExp } | { types: RegExp } | { settingsError: RegExp });
