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

/** Liquid sources. Their variables: `name`, `merchant`, `parcel` (the tracking number), `when`. */
export type Message = {
  subject: string;
  /** To the person who waits for the parcel. */
  buyer: string;
  /** To those who work on it (merchant, agent, warehouse): the fact, and what to do about it. */
  staff: string;
};

/** One language of the emails. */
export type Locale = {
  tag: string;
  dir: "ltr" | "rtl";
  /** The greeting with `name`, and the one for a buyer whose name is not known. */
  greeting: string;
  greetingWithoutName: string;
  labels: { parcel: string; merchant: string; when: string };
  /** Why the recipient gets this email. */
  footer: string;
  messages: Record<TemplateName, Message>;
};
