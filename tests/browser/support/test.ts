import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Page } from "playwright-core";
import { test as base, expect, inject } from "vitest";
import { contextOf, type Look } from "./context.ts";
import { type Course, watch } from "./watch.ts";

/** Opens pages that nobody visited before. */
export type Open = (url: string, look?: Look) => Promise<Page>;

const given = inject("browser");

/**
 * A test in the run's browser. `open` shows a page in a context of the test's own; at its end no page may have asked
 * another machine for anything, have had a request fail, or have written an error to the console. Of a test that fails, the
 * pages are kept as pictures. Without a browser the run says why these tests did not run: see setup.ts.
 */
export const test = base
  .extend("open", async ({ task }, { onCleanup }): Promise<Open> => {
    if (given.endpoint === null) throw new Error(given.why);
    const browser = await chromium.connect(given.endpoint);
    const courses: Course[] = [];
    const pages: Page[] = [];
    onCleanup(async () => {
      if (task.result?.state === "fail") await keep(pages, task.fullTestName);
      await browser.close();
      expect(courses.flatMap(({ problems }) => problems)).toEqual([]);
    });
    return async (url, look) => {
      const context = await contextOf(browser, look);
      courses.push(watch(context));
      const page = await context.newPage();
      pages.push(page);
      await page.goto(url);
      return page;
    };
  })
  .skipIf(given.endpoint === null && !given.required);

const kept = fileURLToPath(new URL("../../../node_modules/.cache/browser-failures", import.meta.url));

async function keep(pages: readonly Page[], test: string): Promise<void> {
  for (const [place, page] of pages.entries()) {
    const path = join(kept, `${test.replaceAll(/\W+/g, "-").slice(0, 80)}-${place + 1}.png`);
    await page.screenshot({ path, fullPage: true });
    console.error(`how it looked: ${path}`);
  }
}
