/** The templates there are; a rule may name no other. `.still` is the follow-up after 24 hours. */
export const templates = [
  "picked_up",
  "customs_hold",
  "customs_hold.still",
  "customs_released",
  "out_for_delivery",
  "delivery_exception",
  "delivered",
  "returned",
] as const;

export type TemplateName = (typeof templates)[number];

/** The names of all templates, for checking rules. */
export const templateNames: ReadonlySet<string> = new Set<string>(templates);

export function isTemplateName(name: string): name is TemplateName {
  return templateNames.has(name);
}
