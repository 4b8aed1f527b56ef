import { channels, languages, templates } from "@owed/channel/templates";
import { roles } from "@owed/ledger";
import * as v from "valibot";
import { addressOf, word } from "./query.ts";

const oneOf = <const Names extends readonly string[]>(what: string, names: Names) =>
  v.picklist(names, ({ input }) => `There is no ${what} ${input}; there are ${names.join(", ")}.`);

const known = [...languages().keys()];

/** Which message is looked at. `name`, `merchant`, `parcel`: values in place of the sample's; empty: the sample's own. */
export const previewQuery = v.object({
  template: v.optional(oneOf("template", templates), "picked_up"),
  channel: v.optional(oneOf("channel", channels), "email"),
  locale: v.optional(oneOf("language", known), "en"),
  role: v.optional(oneOf("role", roles), "buyer"),
  name: v.optional(word("name", 100), ""),
  merchant: v.optional(word("merchant", 100), ""),
  parcel: v.optional(word("parcel", 100), ""),
});
export type PreviewQuery = v.InferOutput<typeof previewQuery>;

/** Where the preview is; with something of it changed, the one beside it. */
export const previewOf = (query: PreviewQuery, change: Partial<Record<keyof PreviewQuery, string>> = {}) =>
  addressOf("/rules/templates/preview", { ...query, ...change });

/** Where the email's page is, for a frame of its own: `guard/guard.ts` has what it may. */
export const emailOf = (query: PreviewQuery): string => addressOf("/rules/templates/email", query);

/** As the command line's `owed preview` takes them. */
export const valuesOf = ({ locale, role, name, merchant, parcel }: PreviewQuery) => ({
  ...{ locale, role },
  ...(name === "" ? {} : { name }),
  ...(merchant === "" ? {} : { merchant }),
  ...(parcel === "" ? {} : { parcel }),
});
