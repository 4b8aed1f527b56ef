/** Nothing is sent by a synthesis, but production refuses to do without a sender of its own. */
const from = "Shop Seven <notify@mail.shop-seven.com>";

/** Settings with a sender, so that a fresh clone can be synthesised; the given one when there is one. */
export function withSender(settings: Record<string, unknown>): Record<string, unknown> {
  const { email } = settings;
  return { ...settings, email: { from, ...(typeof email === "object" ? email : {}) } };
}
