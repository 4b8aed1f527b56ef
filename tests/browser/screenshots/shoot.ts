import { startConsole } from "@owed/console";
import { parseSettings } from "@owed/functions/settings";
import { Ledger } from "@owed/ledger";
import { type Browser, chromium, type Page } from "playwright-core";
import { contextOf } from "../support/context.ts";
import { launchBrowser } from "../support/launch.ts";
import type { Site } from "../support/site.ts";

/** Pictures of the console on a ledger that was stretched to life's pace: with the settings that a stage has. */
export async function shoot(site: Site, folder: string): Promise<void> {
  const ledger = new Ledger({ ...site.stack.ledgerOptions, applicationName: "owed-console" });
  const page = await startConsole({
    ...{ port: 0, ledger, writer: ledger, sandbox: null, stage: "demo", actor: "ada" },
    services: {
      sqs: async () => site.stack.client,
      queue: (name) => site.stack.queues[name],
      settings: async () => parseSettings({}),
      webhookKey: async () => null,
    },
  });
  const server = await launchBrowser();
  const browser = await chromium.connect(server.wsEndpoint());
  try {
    await shootPages(browser, page.url, folder, await shipmentOf(site));
  } finally {
    await browser.close();
    await server.close();
    await page.stop();
    await ledger.close();
  }
}

async function shootPages(browser: Browser, url: string, folder: string, shipment: string): Promise<void> {
  const context = await contextOf(browser);
  const page = await context.newPage();
  await page.setViewportSize({ width: 1000, height: 760 });
  await page.goto(`${url}/?span=1h`);
  await page.locator("#plot canvas").waitFor();
  await take(page, `${folder}/now.png`, "main", 1180);
  await page.goto(`${url}/notified?shipment=${shipment}`);
  await take(page, `${folder}/notified.png`, "main", 700);
  await page.goto(`${url}/outages`);
  await page.locator("#outages a").first().click();
  await page.locator("#plot img").waitFor();
  await take(page, `${folder}/outage.png`, "main", 1000);
}

/** From the page's top, so many pixels of it. */
async function take(page: Page, path: string, selector: string, height: number): Promise<void> {
  await page.locator(selector).waitFor();
  await page.setViewportSize({ width: 1000, height });
  await page.screenshot({ path, animations: "disabled" });
}

/** One whose buyer was told something by email, and the merchant as well. */
async function shipmentOf({ sql }: Site): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    SELECT e.shipment_id AS id FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
    WHERE n.state = 'delivered' GROUP BY 1 ORDER BY count(*) DESC, min(n.due_at) LIMIT 1`;
  if (!row) throw new Error("nobody was told anything");
  return row.id;
}
