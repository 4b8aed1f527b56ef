import { type Ledger, type Rule, setRule } from "@owed/ledger";
import { merchants } from "./plan.ts";

type Told = Pick<Rule, "status" | "role" | "channel"> &
  Partial<Pick<Rule, "template" | "onlyWhileCurrent" | "newestReplaces">> & {
    /** In the storm's minutes. */
    delay?: number;
    within?: number;
  };

const day = 24 * 60;
const keeps = { newestReplaces: false };

/** Whom the storm's merchants tell what. Deadlines pass in the outage, and follow-ups fall due in it. */
export const told: readonly Told[] = [
  { status: "picked_up", role: "buyer", channel: "email" },
  { status: "customs_hold", role: "buyer", channel: "email" },
  {
    ...{ status: "customs_hold", role: "buyer", channel: "email", template: "customs_hold.still" },
    ...{ delay: 20, onlyWhileCurrent: true },
  },
  { status: "customs_released", role: "buyer", channel: "email" },
  { status: "out_for_delivery", role: "buyer", channel: "email", within: 30 },
  { status: "delivery_exception", role: "buyer", channel: "email" },
  { status: "delivered", role: "buyer", channel: "email" },
  { status: "returned", role: "buyer", channel: "email" },
  { status: "customs_hold", role: "buyer", channel: "sms" },
  { status: "out_for_delivery", role: "buyer", channel: "sms", within: 20 },
  { status: "delivery_exception", role: "buyer", channel: "sms" },
  { status: "customs_hold", role: "merchant", channel: "email" },
  { status: "delivered", role: "merchant", channel: "email" },
  { status: "returned", role: "merchant", channel: "email" },
  { status: "picked_up", role: "merchant", channel: "webhook", ...keeps },
  { status: "customs_hold", role: "merchant", channel: "webhook", ...keeps },
  { status: "out_for_delivery", role: "merchant", channel: "webhook", ...keeps },
  { status: "delivered", role: "merchant", channel: "webhook", ...keeps },
  { status: "customs_hold", role: "agent", channel: "email" },
  { status: "delivery_exception", role: "agent", channel: "email" },
];

/** Sets the merchants' rules; `minute`: seconds that stand for one. */
export async function setRules(ledger: Ledger, minute: number): Promise<void> {
  const act = { actor: "drill", why: "the storm" };
  for (const merchantId of merchants)
    for (const { delay = 0, within = day, ...rule } of told)
      await setRule(
        ledger,
        {
          ...{ merchantId, template: rule.status, atTime: null, onUnknown: "resend", silent: false },
          ...{ onlyWhileCurrent: false, newestReplaces: true },
          ...rule,
          ...{ delay: Math.round(delay * minute), sendWithin: Math.round(within * minute) },
        },
        act,
      );
}
