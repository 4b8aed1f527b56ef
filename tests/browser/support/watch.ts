import type { BrowserContext } from "playwright-core";

export type Course = {
  /** What no page of ours may do, a line each. */
  readonly problems: readonly string[];
};

const own = new Set(["127.0.0.1", "localhost", "[::1]"]);
/** Pages and pictures that come from nowhere. */
const inside = new Set(["data:", "blob:", "about:", "file:"]);

/** Looks on while pages are visited: at what they ask for, what fails, and what they complain of. */
export function watch(context: BrowserContext): Course {
  const problems: string[] = [];
  context.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url());
    if (!inside.has(protocol) && !own.has(hostname)) problems.push(`asked elsewhere: ${request.url()}`);
  });
  context.on("requestfailed", (request) => {
    const why = request.failure()?.errorText ?? "";
    // The browser's own doing: it leaves a page whose answer still comes, or keeps a file instead of showing it.
    if (why !== "net::ERR_ABORTED") problems.push(`failed: ${request.method()} ${request.url()}: ${why}`);
  });
  context.on("console", (message) => {
    if (message.type() === "error")
      problems.push(`console error on ${message.page()?.url()}: ${message.text()}`);
  });
  context.on("weberror", (error) => {
    problems.push(`page error on ${error.page()?.url()}: ${error.error().message}`);
  });
  return { problems };
}
