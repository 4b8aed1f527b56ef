import axe, { type AxeResults } from "axe-core";
import type { Page } from "playwright-core";

export type Finding = { rule: string; impact: string; help: string; where: string[] };

/** Not within an email's frame, which runs no script, axe's included: it would be waited for. */
const run = `axe.run(document, { iframes: false })`;

/** What axe finds wrong with a page as it looks now. */
export async function inspect(page: Page): Promise<Finding[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResults>(run);
  return violations.map(({ id, impact, help, nodes }) => ({
    rule: id,
    impact: impact ?? "unknown",
    help,
    where: nodes.map(({ html }) => html.slice(0, 200)).slice(0, 3),
  }));
}
