import { text } from "node:stream/consumers";
import type { Page } from "playwright-core";

/** Waits until something there has the text. */
export const shows = (page: Page, selector: string, what: string | RegExp): Promise<void> =>
  page.locator(selector, { hasText: what }).first().waitFor();

/** What the page answered to an action. */
export const notice = async (page: Page): Promise<string> =>
  (await page.locator(".notice").textContent()) ?? "";

/** Presses a button within a part of the page. */
export const press = (page: Page, name: string | RegExp, within = "main"): Promise<void> =>
  page.locator(within).getByRole("button", { name }).first().click();

/** Fills in the reason of the form with this button, and sends it. */
export async function decide(page: Page, button: string | RegExp, why: string): Promise<void> {
  const form = page.locator("form", { has: page.getByRole("button", { name: button, exact: true }) });
  await form.getByLabel("Why").fill(why);
  await form.getByRole("button", { name: button, exact: true }).click();
}

/** Clicks a link to a file; returns its name and what is in it. */
export async function save(page: Page, link: string): Promise<{ name: string; text: string }> {
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: link }).click(),
  ]);
  return { name: file.suggestedFilename(), text: await text(await file.createReadStream()) };
}

/** Presses Tab until this has the focus: it has to be within reach. */
export async function tabTo(page: Page, selector: string, most = 40): Promise<void> {
  for (let presses = 0; presses < most; presses += 1) {
    await page.keyboard.press("Tab");
    if ((await page.locator(`${selector}:focus`).count()) > 0) return;
  }
  throw new Error(`${most} presses of Tab do not lead to ${selector}`);
}
