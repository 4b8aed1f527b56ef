// Makes docs/images/ again: the console after an outage, and the course of the outage itself.
import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { render } from "@owed/plot";
import { drillPlot } from "./screenshots/drill-plot.ts";
import { sufferOutage } from "./screenshots/outage.ts";
import { shoot } from "./screenshots/shoot.ts";
import { stretch } from "./screenshots/stretch.ts";
import { startSite } from "./support/site.ts";

const folder = fileURLToPath(new URL("../../docs/images", import.meta.url));
/** A second of the drill stands for a minute. */
const scale = 60;

const site = await startSite({
  settings: {
    sweep: { budget: 8, every: 1 },
    limits: { email: { rate: 12 }, sms: { rate: 4 }, webhook: { rate: 8 } },
  },
});
try {
  await mkdir(folder, { recursive: true });
  const drill = await sufferOutage(site);
  await writeFile(`${folder}/drill.svg`, await render(drillPlot(drill)));
  site.stack.schedule.pause();
  await stretch(site.sql, scale);
  await shoot(site, folder);
} finally {
  await site.stop();
}
// The functions keep their connections for the next invocation, as on Lambda; here nothing comes any more.
process.exit(0);
