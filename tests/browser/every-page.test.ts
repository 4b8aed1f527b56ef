import { afterAll, beforeAll, describe, expect } from "vitest";
import { long } from "../support/long.ts";
import { inspect } from "./support/axe.ts";
import type { Device, Scheme } from "./support/context.ts";
import { type Site, startSite } from "./support/site.ts";
import { parcels, stranger, tellStory } from "./support/story.ts";
import { test } from "./support/test.ts";

let site: Site;
/** The story's own notification. */
let told: string;
beforeAll(async () => {
  site = await startSite();
  await tellStory(site);
  const [row] = await site.sql<{ id: string }[]>`
    SELECT n.id FROM owed.notification n JOIN owed.event e ON e.key = n.event_key WHERE e.shipment_id = ${parcels.hostile}`;
  if (!row) throw new Error("the story has not happened");
  told = row.id;
});
afterAll(() => site.stop());

/** Where a page's first link of a kind leads. */
async function linkOn(path: string, start: string): Promise<string> {
  const text = await (await fetch(`${site.url}${path}`)).text();
  const [, to] = text.match(new RegExp(`href="(${start}[^"]+)"`)) ?? [];
  if (!to) throw new Error(`${path} has no link to ${start}…`);
  return to.replaceAll("&amp;", "&");
}

/** Each page with something on it. */
const pages: Record<string, () => string | Promise<string>> = {
  now: () => "/",
  "the search": () => "/notified",
  "an answer": () => `/notified?shipment=${parcels.told}`,
  "a choice": () => `/notified?by=recipient&value=${stranger}`,
  "a notification": () => `/notified/${told}`,
  "dead letters": () => "/dead",
  "a group": () => "/dead?channel=email",
  "a dead-letter queue": () => "/dead/queue/notification",
  "unknown outcomes": () => "/dead/unknown",
  "suppressed addresses": () => "/dead/suppressed",
  "refused events": () => "/dead/refused",
  outages: () => "/outages",
  "an outage": () => linkOn("/outages", "/outages/"),
  rules: () => "/rules",
  "a rule's versions": () => linkOn("/rules", "/rules/history"),
  "what an event would tell": () => `/rules/try?shipment=${parcels.told}&status=delivered`,
  templates: () => "/rules/templates",
  "a preview": () => "/rules/templates/preview?template=customs_hold&channel=email&locale=ar",
};

const looks: { device: Device; scheme: Scheme }[] = [
  { device: "desktop", scheme: "light" },
  ...(long
    ? ([
        { device: "phone", scheme: "dark" },
        { device: "desktop", scheme: "dark" },
        { device: "phone", scheme: "light" },
      ] as const)
    : []),
];

describe.each(looks)("on a $device, $scheme", (look) => {
  for (const [name, path] of Object.entries(pages))
    test(`${name}: axe finds nothing wrong, and it is no wider than the screen`, async ({ open }) => {
      const page = await open(`${site.url}${await path()}`, look);
      expect(await inspect(page)).toEqual([]);
      const over = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
      expect(await page.evaluate<number>(over)).toBeLessThanOrEqual(0);
    });
});

test("what a stranger wrote stands as text on every page, and nothing of it runs", async ({ open }) => {
  const page = await open(site.url);
  const shown = [];
  for (const [name, path] of Object.entries(pages)) {
    await page.goto(`${site.url}${await path()}`);
    expect(await page.title()).not.toBe("run");
    expect(await page.locator("img[src=x]").count()).toBe(0);
    if ((await page.locator("main").textContent())?.includes("<img")) shown.push(name);
  }
  // The merchant's name, the reason of a dead row, a refused event's status, and who paused the schedule and why.
  expect(shown).toEqual(expect.arrayContaining(["now", "a choice", "a group", "refused events", "outages"]));
});
