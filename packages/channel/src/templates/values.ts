import type { SendRequest } from "../channel.ts";
import { line } from "../text.ts";
import { trackingLink } from "./link.ts";
import { looksLikeContact, withoutLinks } from "./unlinked.ts";
import { whenText } from "./when.ts";

/** The variables of the templates. */
export const variables = ["name", "merchant", "parcel", "when", "link"] as const;

/** What the templates' variables stand for: one clean line each. Empty: not there, or not to be shown. */
export type MessageValues = Record<(typeof variables)[number], string>;

/** Code points. */
const longestValue = 80;

/**
 * The values of one message.
 * @param formats BCP 47 tag that times are written by
 * @throws RefusedError `InvalidShipment` for a time that is none
 */
export function valuesOf(
  { name, merchant, shipment, timeZone }: SendRequest,
  formats: string,
): MessageValues {
  const named = line(name ?? "", longestValue);
  const number = line(shipment.trackingNumber, longestValue);
  return {
    // Our greeting must not carry a stranger's advertisement: who names himself so is greeted without a name.
    name: looksLikeContact(named) ? "" : named,
    merchant: withoutLinks(line(merchant.name, longestValue)) || "—",
    parcel: withoutLinks(number) || "—",
    when: whenText(shipment.occurredAt, formats, timeZone),
    link: trackingLink(merchant.trackingUrl, number) ?? "",
  };
}
