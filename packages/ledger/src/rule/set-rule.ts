import { Refused, refusedBy } from "../connect/errors.ts";
import type { Ledger } from "../connect/ledger.ts";
import type { Act } from "../operate/refusal.ts";
import type { Rule } from "./rule.ts";

/**
 * Sets what a status tells a role on a channel by a template: a new version of the rule where it differs from the one
 * that counts. What is owed already keeps the version that it came from. Returns the id of the version that counts now.
 *
 * @throws Refused with the field and the reason
 */
export async function setRule(ledger: Ledger, rule: Omit<Rule, "id">, { actor, why }: Act): Promise<string> {
  try {
    const [row] = await ledger.run(
      (sql) => sql<{ id: string }[]>`
        SELECT owed.set_rule(${rule.merchantId}, ${rule.status}, ${rule.role}, ${rule.channel}, ${rule.template}, ${rule.delay},
          ${rule.atTime}, ${rule.sendWithin}, ${rule.onlyWhileCurrent}, ${rule.newestReplaces}, ${rule.onUnknown}, ${actor},
          ${why}, ${rule.silent})::text AS id`,
      { repeatable: true },
    );
    if (!row) throw new Error("the ledger gave no answer to a rule");
    return row.id;
  } catch (error) {
    const refusal = refusedBy(error);
    if (refusal) throw new Refused(refusal.field, refusal.reason, { cause: error });
    throw error;
  }
}
