import { access } from "node:fs/promises";
import { type BrowserServer, chromium } from "playwright-core";
import { unpackChromium } from "./unpack.ts";

type Candidate = { name: string; program: string; env: Record<string, string> };

const installed = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** No candidate started: each with its reason. */
export class NoBrowser extends Error {
  override name = "NoBrowser";
}

/**
 * Starts a Chromium that this process's children can share: the one of the npm package, with the machine's libraries or,
 * where these are missing, with its own, else one that is installed. `OWED_CHROMIUM` names another, and then no other is tried.
 *
 * @throws NoBrowser
 */
export async function launchBrowser(): Promise<BrowserServer> {
  const reasons: string[] = [];
  for await (const { name, program, env } of candidates(reasons)) {
    try {
      return await chromium.launchServer({
        executablePath: program,
        // Letters stand where they would without a screen: as on every other machine.
        args: ["--no-zygote", "--font-render-hinting=none"],
        host: "127.0.0.1",
        env: { ...process.env, ...env },
      });
    } catch (error) {
      reasons.push(`${name}: ${causeOf(error)}`);
    }
  }
  throw new NoBrowser(reasons.join("\n"));
}

async function* candidates(reasons: string[]): AsyncGenerator<Candidate> {
  const wanted = process.env.OWED_CHROMIUM;
  if (wanted) {
    yield { name: `${wanted} (OWED_CHROMIUM)`, program: wanted, env: {} };
    return;
  }
  try {
    const { program, libraries, fonts } = await unpackChromium();
    const env = { FONTCONFIG_FILE: fonts };
    yield { name: "@sparticuz/chromium", program, env };
    yield {
      name: "@sparticuz/chromium, with its own libraries",
      program,
      env: { ...env, LD_LIBRARY_PATH: libraries },
    };
  } catch (error) {
    reasons.push(`@sparticuz/chromium: ${causeOf(error)}`);
  }
  for (const program of installed) if (await isThere(program)) yield { name: program, program, env: {} };
}

const isThere = (program: string): Promise<boolean> =>
  access(program).then(
    () => true,
    () => false,
  );

/** Of Playwright's long account the line that says why: what the browser itself wrote, if it did. */
function causeOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const lines = text.split("\n");
  const said = lines.find((line) => line.includes("[err]"));
  return (said?.replace(/^.*\[err\]\s*/, "") ?? lines[0] ?? text).trim();
}
