/** Nothing is sent by a synthesis, but production refuses to do without a sender of its own. */
export const madeUpSender = "Shop Seven <notify@mail.shop-seven.com>";

/** Settings with a sender, for tests; the given one when there is one. */
export function withSender(settings: Record<string, unknown>): Record<string, unknown> {
  const { email } = settings;
  return { ...settings, email: { from: madeUpSender, ...(typeof email === "object" ? email : {}) } };
}

export const hasSender = ({ email }: Record<string, unknown>): boolean =>
  typeof email === "object" && email !== null && "from" in email;
