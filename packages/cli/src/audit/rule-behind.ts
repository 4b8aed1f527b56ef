import type { History, RuleVersion } from "@owed/ledger";

/**
 * The version of a rule that a notification came from: of those that counted when its event was recorded, the merchant's
 * own before a default one. Null: none of these.
 */
export function ruleBehind(
  { status, role, channel, template, recordedAt }: History,
  merchantId: string,
  rules: readonly RuleVersion[],
): RuleVersion | null {
  const counted = rules.filter(
    (rule) =>
      rule.status === status &&
      rule.role === role &&
      rule.channel === channel &&
      rule.template === template &&
      // What a new ledger begins with counted before rules had a time.
      (rule.setAt <= recordedAt || (rule.version === 1 && rule.setBy === "owed")) &&
      (rule.retiredAt === null || rule.retiredAt > recordedAt),
  );
  return (
    counted.find((rule) => rule.merchantId === merchantId) ??
    counted.find((rule) => rule.merchantId === null) ??
    null
  );
}
