import type { Ledger } from "../connect/ledger.ts";
import type { Role } from "../states.ts";

/** A merchant's own rule; for its status, role and channel the merchant's rules stand in place of the default ones. */
export type MerchantRule = {
  merchantId: string;
  status: string;
  role: Role;
  channel: string;
  template: string;
  /** Seconds after the event occurred. */
  delay: number;
  /** Seconds after the event occurred from which it is too late to send. */
  sendWithin: number;
  onlyWhileCurrent: boolean;
};

/** Adds a rule of a merchant unless it has an active one for the same status, role, channel and template. */
export async function addRule(ledger: Ledger, rule: MerchantRule): Promise<void> {
  await ledger.run(
    (sql) => sql`
      INSERT INTO owed.rule (merchant_id, status, role, channel, template, delay_s, send_within_s, only_while_current)
      VALUES (${rule.merchantId}, ${rule.status}, ${rule.role}, ${rule.channel}, ${rule.template}, ${rule.delay},
        ${rule.sendWithin}, ${rule.onlyWhileCurrent})
      ON CONFLICT DO NOTHING`,
    { repeatable: true },
  );
}
