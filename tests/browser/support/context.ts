import type { Browser, BrowserContext } from "playwright-core";

export type Device = "desktop" | "phone";
export type Scheme = "light" | "dark";
export type Look = { device?: Device; scheme?: Scheme };

export const devices = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
} as const;

/** Milliseconds that a page may take to show what a test waits for: generous, as the machine may be busy. */
const patience = 60_000;

/** A context that looks so, with its patience. Times and texts are the same on every machine. */
export async function contextOf(
  browser: Browser,
  { device = "desktop", scheme = "light" }: Look = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({
    ...devices[device],
    colorScheme: scheme,
    locale: "en-GB",
    timezoneId: "UTC",
    acceptDownloads: true,
  });
  context.setDefaultTimeout(patience);
  return context;
}
