import { channels } from "@owed/channel/templates";
import { afterAll, beforeAll, expect } from "vitest";
import { registerParcel } from "./support/parcels.ts";
import { press, shows } from "./support/shown.ts";
import { type Site, startSite } from "./support/site.ts";
import { test } from "./support/test.ts";

let site: Site;
beforeAll(async () => {
  site = await startSite();
  await registerParcel(site.ledger, {
    id: "P-1",
    buyer: { id: "buyer-1", name: "Ada", email: "ada@example.com", phone: "+351912345678" },
  });
});
afterAll(() => site.stop());

test("who would be told what, when: tried out, nothing recorded", async ({ open }) => {
  const page = await open(`${site.url}/rules`);
  await page.getByLabel("Status").selectOption("customs_hold");
  await press(page, "Show");
  await shows(page, "table", "customs_hold.still");
  await page.getByRole("link", { name: "What would an event tell?" }).click();
  await page.getByLabel("Shipment's id").fill("P-1");
  await page.getByLabel("Status that it would come into").selectOption("customs_hold");
  await press(page, "Try");
  const told = page.locator("table", { hasText: "Would be told" });
  await told.waitFor();
  expect(await told.getByRole("row").filter({ hasText: "buyer-1" }).count()).toBeGreaterThan(1);
  expect(await site.sql`SELECT FROM owed.event WHERE shipment_id = 'P-1'`).toHaveLength(0);
});

test("each channel's message in a language that runs from right to left, and an email's as a page", async ({
  open,
}) => {
  const page = await open(`${site.url}/rules/templates`);
  for (const channel of channels) {
    await page.goto(`${site.url}/rules/templates`);
    await page.getByRole("link", { name: `ar, customs_hold by ${channel}`, exact: true }).click();
    await shows(page, "h1", `customs_hold by ${channel}`);
    const sent = page.locator(".message[lang=ar]").first();
    expect(await sent.getAttribute("dir")).toBe("rtl");
    expect(await sent.textContent()).toMatch(/\p{Script=Arabic}/u);
  }
  await page.goto(`${site.url}/rules/templates/preview?template=customs_hold&channel=email&locale=ar`);
  const email = page.frameLocator("iframe");
  expect(await email.locator("[dir=rtl]").first().textContent()).toMatch(/\p{Script=Arabic}/u);
});

test("a name that is markup is text in every preview", async ({ open }) => {
  const page = await open(`${site.url}/rules/templates/preview?template=customs_hold&channel=email`);
  const name = "<img src=x onerror=alert(1)>";
  await page.getByLabel("Recipient's name").fill(name);
  await page.getByLabel("Merchant's name").fill(name);
  await press(page, "With these values");
  await shows(page, "pre", name);
  await page.frameLocator("iframe").getByText(name).first().waitFor();
  expect(await page.frameLocator("iframe").locator("img[src=x]").count()).toBe(0);
});
