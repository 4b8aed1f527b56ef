import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readStatus } from "@owed/ledger";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { passTime } from "../support/time.ts";
import { notice, press, save, shows } from "./support/shown.ts";
import { actor, type Site, startSite } from "./support/site.ts";
import { test } from "./support/test.ts";

let site: Site;
beforeAll(async () => {
  site = await startSite({
    settings: {
      channel: { failures: 3, breaker: 1, breakerMost: 2 },
      // So that a drain takes long enough to be seen.
      limits: { email: { rate: 20 }, sms: { rate: 20 }, webhook: { rate: 20 } },
    },
  });
});
afterAll(() => site.stop());

const figure = async (page: Page, name: string): Promise<string> =>
  (await page.locator(`#figures div:has(dt:text-is("${name}")) dd`).textContent()) ?? "";

/** Counts how often the page is left or loaded anew, and keeps every number of what is owed that it shows. */
async function follow(page: Page): Promise<{ left: number; owed(): Promise<number[]> }> {
  const course = { left: 0, owed: () => page.evaluate<number[]>("window.owed") };
  page.on("framenavigated", () => {
    course.left += 1;
  });
  await page.evaluate(`
    window.owed = [];
    const look = () => {
      const owed = Number(document.querySelector("#figures dd").textContent);
      if (owed !== window.owed.at(-1)) window.owed.push(owed);
    };
    new MutationObserver(look).observe(document.getElementById("figures"), { childList: true, subtree: true, characterData: true });
    look();`);
  return course;
}

const lever = (page: Page, name: string): Promise<void> => press(page, name, "#try");

test("pause, 200 events, resume: whoever looks on sees the backlog grow, drain, and the report, without a reload", async ({
  open,
}) => {
  const page = await open(`${site.url}/?span=15m`);
  const operator = await open(site.url);
  await shows(page, "#situation", "All is well");
  const course = await follow(page);
  const before = await page.locator("#plot canvas").screenshot();

  await lever(operator, "Pause the sweeps");
  await shows(page, "#situation", "The sweeps are paused");
  await shows(page, "#beat", `by ${actor}`);
  await lever(operator, "Let 200 events happen");
  await shows(operator, ".notice", "200 events have happened.");
  await eventually(async () => expect(Number(await figure(page, "Owed now"))).toBeGreaterThanOrEqual(200));
  const backlog = (await readStatus(site.ledger)).owed;
  await passTime(site.sql, 240);
  await shows(page, "#figures", /[34] min/);
  const outages = await open(`${site.url}/outages`);
  await shows(outages, "#outages tr", "goes on");
  let leftOutages = 0;
  outages.on("framenavigated", () => {
    leftOutages += 1;
  });

  await lever(operator, "Resume and sweep");
  await shows(page, "#situation", "All is well");
  await eventually(async () => expect(await figure(page, "Owed now")).toBe("0"));
  await shows(page, "#latest", "or waited when it began, is still owed");
  const owed = await course.owed();
  const most = owed.indexOf(Math.max(...owed));
  expect(owed[most]).toBeGreaterThanOrEqual(Math.min(200, backlog));
  // Not by each number: a newer event makes some of what waits untrue.
  expect(most, "the backlog was seen to grow").toBeGreaterThan(1);
  expect(owed.slice(most).length, "the drain was seen on its way").toBeGreaterThan(3);
  expect(owed.at(-1)).toBe(0);
  // Drawn again, and in numbers for whoever can't see it.
  expect(await page.locator("#plot canvas").screenshot()).not.toEqual(before);
  await page.getByText("The same as a table").click();
  await shows(page, "#course tr", /\d/);

  await shows(outages, "#outages tr", "nothing owed");
  expect([course.left, leftOutages]).toEqual([0, 0]);
});

test("an outage's report is saved as one file, which opens from the disk and asks for nothing", async ({
  open,
}) => {
  const page = await open(`${site.url}/outages`);
  await page.locator("#outages a").first().click();
  await shows(page, "h1", "Outage of");
  const file = await save(page, "As one page to send or print (HTML)");
  expect(file.name).toMatch(/^owed-outage-[a-z-]+-.*\.html$/);
  const folder = await mkdtemp(join(tmpdir(), "owed-browser-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, file.name), file.text);
  const saved = await open(pathToFileURL(join(folder, file.name)).href);
  await shows(saved, "h1", "Outage of");
  expect(await saved.locator("svg path").count()).toBeGreaterThan(3);
  const json = JSON.parse((await save(page, "For a program (JSON)")).text);
  expect(json).toMatchObject({ outages: [{ addsUp: true, nothingOwed: true }] });
  expect((await save(page, "The plot alone (SVG)")).text).toMatch(/^<svg/);
});

test("a provider that is stopped closes its channel; started again, all goes out", async ({ open }) => {
  const page = await open(site.url);
  await lever(page, "Stop the providers");
  await shows(page, "#provider", "The providers are stopped.");
  await lever(page, "Let 20 events happen");
  await shows(page, "#situation", /Closed: .*email/);
  await shows(page, "#channels tr", /email.*closed/);
  await lever(page, "Start the providers");
  await shows(page, "#provider", "The providers work.");
  await shows(page, "#situation", "All is well");
  await eventually(async () => expect(await figure(page, "Owed now")).toBe("0"));
});

test("the notification queue is purged, and an event happens", async ({ open }) => {
  const purged: string[] = [];
  site.stack.sqs.faults.observe(({ action, queueName }) => {
    if (action === "PurgeQueue") purged.push(queueName);
  });
  const page = await open(site.url);
  await lever(page, "Purge the notification queue");
  expect(await notice(page)).toContain("The notification queue is empty");
  expect(purged).toEqual(["notification.fifo"]);
  await lever(page, "Let an event happen");
  expect(await notice(page)).toBe("An event has happened.");
});

test("the sweeps and a channel are stopped and started for a reason, which the ledger keeps", async ({
  open,
}) => {
  const page = await open(site.url);
  const controls = "section[aria-labelledby=controls]";
  const within = (path: string) => page.locator(`${controls} form[action="${path}"]`);
  const act = async (path: string, why: string) => {
    await within(path).getByLabel("Why").fill(why);
    await within(path).getByRole("button").click();
    return notice(page);
  };
  expect(await act("/sweeps/pause", "a migration")).toContain("The sweeps are paused");
  await shows(page, "#beat", "a migration");
  expect(await act("/sweeps/resume", "it is done")).toContain("The sweeps run again");
  await within("/channels/close").getByLabel("Channel").selectOption("sms");
  expect(await act("/channels/close", "the wrong template")).toContain("The channel sms is closed");
  await shows(page, "#channels tr", /sms.*the wrong template/);
  await within("/channels/open").getByLabel("Channel").selectOption("sms");
  expect(await act("/channels/open", "it is corrected")).toContain("The channel sms is open");
  await shows(page, "#situation", "All is well");
});
