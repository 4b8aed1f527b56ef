/** How often each reason is given, in the order in which they come. */
export const counted = (reasons: readonly string[]): { reason: string; count: number }[] =>
  [...Map.groupBy(reasons, (reason) => reason)].map(([reason, { length: count }]) => ({ reason, count }));
