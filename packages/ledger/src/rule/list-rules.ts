import type { Ledger } from "../connect/ledger.ts";
import type { RuleVersion } from "./rule.ts";

export type RuleFilter = {
  merchantId?: string | undefined;
  status?: string | undefined;
  /** The versions that do not count any more, too. */
  history: boolean;
};

/** Who is told what, by status: the default rules before merchants' own, the newest version of each first. */
export async function listRules(
  ledger: Ledger,
  { merchantId, status, history }: RuleFilter,
): Promise<RuleVersion[]> {
  return ledger.run(
    (sql) => sql<RuleVersion[]>`
      SELECT id::text, merchant_id AS "merchantId", status, role, channel, template, delay_s AS delay,
        to_char(at_time, 'HH24:MI') AS "atTime", send_within_s AS "sendWithin", only_while_current AS "onlyWhileCurrent",
        newest_replaces AS "newestReplaces", on_unknown AS "onUnknown", silent, version, active, set_at AS "setAt",
        set_by AS "setBy", set_why AS "setWhy", retired_at AS "retiredAt", retired_by AS "retiredBy", retired_why AS "retiredWhy"
      FROM owed.rule
      WHERE (active OR ${history})
        AND (${merchantId ?? null}::text IS NULL OR merchant_id IS NULL OR merchant_id = ${merchantId ?? null}::text)
        AND (${status ?? null}::text IS NULL OR status = ${status ?? null}::text)
      ORDER BY merchant_id NULLS FIRST, status, role, channel, template, version DESC`,
    { repeatable: true },
  );
}
