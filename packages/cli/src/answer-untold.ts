import type { Untold } from "@owed/ledger";

/** A line for each role and channel that was told nothing, and why; `recipient`: if one alone was asked for. */
export function untoldText(untold: readonly Untold[], recipient?: string): string[] {
  const groups = Map.groupBy(untold, ({ role, channel, why }) => `${role} ${channel} ${why}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (!first) return [];
    const statuses = [...new Set(group.map(({ status }) => status))].join(", ");
    const { role, channel } = first;
    return [
      `Nothing by ${channel} to the ${role} about ${statuses}: ${reasons[first.why](first, recipient)}.`,
    ];
  });
}

const reasons: Record<Untold["why"], (of: Untold, recipient?: string) => string> = {
  no_rule: ({ role, channel }) => `no rule tells the ${role} of it by ${channel}`,
  silent: () => "the merchant's own rule tells nobody",
  nobody: ({ role, channel }, recipient) =>
    recipient ? `${recipient} is not subscribed by ${channel}` : `no ${role} is subscribed by ${channel}`,
  later: ({ channel }, recipient) =>
    recipient
      ? `${recipient} was subscribed by ${channel} only after it was recorded`
      : `nobody was subscribed by ${channel} when it was recorded`,
};
