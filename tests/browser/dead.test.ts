import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { happenTo, registerParcel } from "./support/parcels.ts";
import { decide, notice, press, shows } from "./support/shown.ts";
import { actor, type Site, startSite } from "./support/site.ts";
import { parcels, states, tellStory } from "./support/story.ts";
import { test } from "./support/test.ts";

const doomed = ["D-1", "D-2", "D-3", "D-4", "D-5", "D-6"];
let site: Site;
beforeAll(async () => {
  site = await startSite({ settings: { channel: { failures: 1000 } } });
  await tellStory(site);
  const mend = site.stack.ses.faults.add(({ to }) =>
    to.join().includes("doomed")
      ? { error: { status: 400, code: "MessageRejected", message: "No." } }
      : undefined,
  );
  for (const id of doomed)
    await registerParcel(site.ledger, {
      id,
      buyer: { id: `buyer-${id}`, name: "Eve", email: `doomed-${id}@example.com` },
    });
  await happenTo(site.stack, doomed, "out_for_delivery");
  await states(site, all("dead"));
  mend();
});
afterAll(() => site.stop());

const all = (state: string, of: readonly string[] = doomed) =>
  Object.fromEntries(of.map((id) => [id, state]));

/** From the dry run to the end of the redrive. */
async function redrive(page: Page, count: number, button: string): Promise<void> {
  await shows(page, "h1", "What a redrive would do");
  await shows(page, ".lead", `${count} notification`);
  await decide(page, button, "the provider is back");
  await shows(page, "main", `${count} notification${count === 1 ? "" : "s"} owed again`);
  await shows(page, "dl", /ada.*the provider is back/s);
}

test("one, some, and all that fit are redriven, each after a dry run, with a reason, and told", async ({
  open,
}) => {
  const page = await open(`${site.url}/dead`);
  await shows(page, "table", "MessageRejected");
  await page.goto(`${site.url}/dead?reason=${encodeURIComponent("MessageRejected: No.")}`);
  await page.getByLabel(/of shipment D-1$/).check();
  await press(page, "See what a redrive of the chosen would do");
  await states(site, all("dead"));
  await redrive(page, 1, "Owe it again");
  await states(site, { "D-1": "delivered" });
  await page.getByRole("link", { name: "Back to where it was begun" }).click();

  await page.goto(`${site.url}/dead?reason=${encodeURIComponent("MessageRejected: No.")}`);
  await page.getByLabel(/of shipment D-2$/).check();
  await page.getByLabel(/of shipment D-3$/).check();
  await press(page, "See what a redrive of the chosen would do");
  await redrive(page, 2, "Owe these 2 again");
  await states(site, { "D-2": "delivered", "D-3": "delivered", "D-4": "dead" });

  await page.goto(`${site.url}/dead?reason=${encodeURIComponent("MessageRejected: No.")}`);
  await press(page, "See what a redrive of all 3 would do");
  await redrive(page, 3, "Owe these 3 again");
  await states(site, all("delivered"));
  const kept = await site.sql`
    SELECT FROM owed.attempt WHERE kind = 'redriven' AND actor = ${actor}`;
  expect(kept).toHaveLength(6);
});

test("an unknown outcome is resolved as sent, on a person's word", async ({ open }) => {
  const page = await open(`${site.url}/dead/unknown`);
  await page.getByLabel(new RegExp(`of shipment ${parcels.unknown}$`)).check();
  await page.getByLabel(/It was sent/).check();
  await page.getByLabel("Why").fill("she has it");
  await press(page, "Resolve");
  expect(await notice(page)).toContain("1 notification resolved as sent");
  await states(site, { [parcels.unknown]: "delivered" });
  await shows(page, ".lead", "No notification waits");
});

test("a suppressed address is written to again", async ({ open }) => {
  const page = await open(`${site.url}/dead/suppressed`);
  await page.getByLabel("Address, in full").fill("bounce@simulator.amazonses.com");
  await press(page, "Search");
  await decide(page, "Lift it for email", "the mailbox is there again");
  expect(await notice(page)).toContain("is written to again by email");
  await shows(page, "table", /ada: the mailbox is there again/);
  expect(await site.sql`SELECT FROM owed.suppression WHERE lifted_at IS NULL`).toHaveLength(0);
});
