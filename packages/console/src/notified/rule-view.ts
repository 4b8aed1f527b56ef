import { whatItDoes, whenIt } from "@owed/cli/rules/text";
import { printable } from "@owed/cli/text/printable";
import type { RuleVersion } from "@owed/ledger";
import { html } from "hono/html";
import type { Html } from "../page/page.ts";
import { table, time } from "../page/parts.ts";

/** The rules that notifications came from, as they were when their events were recorded. */
export const rulesTable = (rules: readonly RuleVersion[]): Html =>
  rules.length === 0
    ? html`<p>The rule that it came from is not known any more.</p>`
    : table(
        "The rules as they counted when the events were recorded",
        [
          { name: "Status", cell: ({ status }) => printable(status) },
          { name: "Tells", cell: ({ role }) => role },
          { name: "By", cell: ({ channel }) => printable(channel) },
          { name: "Template", cell: ({ template }) => printable(template) },
          { name: "When", cell: whenIt },
          { name: "Else", cell: whatItDoes },
          {
            name: "Whose",
            cell: ({ merchantId }) => (merchantId === null ? "default" : printable(merchantId)),
          },
          { name: "Version", cell: ({ version }) => version, number: true },
          {
            name: "Set",
            cell: (rule) => html`${time(rule.setAt)} by ${printable(`${rule.setBy}: ${rule.setWhy}`)}`,
          },
        ],
        rules,
      );
