import { parse } from "csv-parse/sync";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { decide, notice, press, save, shows, tabTo } from "./support/shown.ts";
import { type Site, startSite } from "./support/site.ts";
import { parcels, states, stranger, tellStory } from "./support/story.ts";
import { test } from "./support/test.ts";

let site: Site;
/** The email that told that the parcel is out for delivery. */
let told: { id: string; message: string };
beforeAll(async () => {
  site = await startSite();
  await tellStory(site);
  const [row] = await site.sql<{ id: string; message: string }[]>`
    SELECT n.id, n.provider_message_id AS message FROM owed.notification n JOIN owed.event e ON e.key = n.event_key
    WHERE e.shipment_id = ${parcels.told} AND e.status = 'out_for_delivery'`;
  if (!row) throw new Error("nobody was told");
  told = row;
});
afterAll(() => site.stop());

const search = async (page: Page, by: string, value: string) => {
  await page.getByLabel("Look for").selectOption(by);
  await page.getByLabel("Its id or address").fill(value);
  await press(page, "Search");
};

describe("was this customer notified", () => {
  test.for([
    ["shipment", (): string => parcels.told],
    ["recipient", (): string => "buyer-ada"],
    ["address", (): string => "ada@example.com"],
    ["message", (): string => told.message],
    ["any", (): string => told.message],
  ] as const)("a search by %s leads to the answer, with its evidence", async ([by, value], { open }) => {
    const page = await open(`${site.url}/notified`);
    await search(page, by, value());
    await shows(page, "h1", `Shipment ${parcels.told}: was this customer notified?`);
    await shows(page, ".answers", /yes/i);
    expect(
      await page.locator("table", { hasText: "The notifications that the answer rests on" }).textContent(),
    ).toContain(told.message);
  });

  test("who fits several shipments is shown them to choose from, and who fits none is told so", async ({
    open,
  }) => {
    const page = await open(`${site.url}/notified`);
    await search(page, "recipient", stranger);
    await shows(page, "main", "This fits several shipments");
    await page.getByRole("link", { name: parcels.dead }).click();
    await shows(page, "h1", `Shipment ${parcels.dead}`);
    await search(page, "address", "nobody@example.com");
    await shows(page, "[role=alert]", "the ledger has nothing for this address");
  });

  test("by the keyboard alone: past the navigation, what to look for, and on to a history", async ({
    open,
  }) => {
    const page = await open(`${site.url}/notified`);
    await page.keyboard.press("Tab");
    expect(await page.locator(":focus").textContent()).toBe("To the page's content");
    await page.keyboard.press("Enter");
    await tabTo(page, "[name=value]");
    await page.keyboard.type(parcels.told);
    await page.keyboard.press("Enter");
    await shows(page, "h1", `Shipment ${parcels.told}`);
    await tabTo(page, `a[href="/notified/${told.id}"]`);
    await page.keyboard.press("Enter");
    await shows(page, "h1", `Notification ${told.id}`);
  });

  test("the answer is saved as CSV and as JSON, without addresses unless they are shown", async ({
    open,
  }) => {
    const page = await open(`${site.url}/notified?shipment=${parcels.told}`);
    const csv = await save(page, "Save as CSV");
    expect(csv.name).toBe("owed-audit_P-TOLD.csv");
    const lines: Record<string, string>[] = parse(csv.text, { columns: true, bom: true });
    expect(lines.find(({ notification }) => notification === told.id)).toMatchObject({
      ...{ shipment: parcels.told, status: "out_for_delivery", channel: "email", state: "delivered" },
      provider_message_id: told.message,
    });
    expect(csv.text).not.toContain("ada@example.com");
    const json = await save(page, "Save as JSON");
    expect(JSON.parse(json.text)).toMatchObject({ shipmentId: parcels.told });
    expect(json.text).not.toContain("ada@example.com");
    await page.getByRole("link", { name: "Show addresses" }).click();
    await shows(page, "main", "ada@example.com");
    expect((await save(page, "Save as CSV")).text).toContain("ada@example.com");
  });

  test("on paper stands the answer with its evidence, and nothing to click", async ({ open }) => {
    const page = await open(`${site.url}/notified?shipment=${parcels.told}`);
    await page.emulateMedia({ media: "print" });
    expect(await page.locator("h2", { hasText: "Evidence" }).isVisible()).toBe(true);
    for (const selector of ["nav", "button", "input"])
      expect(await page.locator(`${selector}:visible`).count(), selector).toBe(0);
  });

  test("a delivered one's content is sent once more, and its history names who asked for it and why", async ({
    open,
  }) => {
    const page = await open(`${site.url}/notified/${told.id}`);
    await decide(page, "Send its content once more", "she deleted it");
    expect(await notice(page)).toContain("This is the new notification");
    await shows(page, "main", told.id);
    await states(site, { [parcels.told]: "delivered" });
    await page.reload();
    await shows(page, "table", /ada.*she deleted it/);
  });
});
