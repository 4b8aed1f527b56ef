import { pause } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { owe } from "../../../../tests/support/shipment.ts";
import { createApp } from "../app.ts";
import type { Context } from "../context.ts";
import { createDesk, type Desk, get, origin } from "../testing/context.ts";

// The slower the ledger answers, the longer the pause: a busy machine takes a while.
vi.setConfig({ testTimeout: 60_000 });

let desk: Desk;
beforeAll(async () => {
  desk = await createDesk();
});
afterAll(() => desk.end());

type Page = { next(event: string): Promise<string>; leave(): Promise<void> };
const pages: Page[] = [];
afterEach(async () => {
  for (const page of pages.splice(0)) await page.leave();
});

/** Opens the live stream as a browser does, the page first: it has connected to the ledger by then. */
async function open(context: Context = desk.context, path = "/live"): Promise<Page> {
  const app = createApp(context);
  await get(app, "/");
  const answer = await app.request(`${origin}${path}`, { headers: { host: new URL(origin).host } });
  expect(answer.headers.get("content-type")).toBe("text/event-stream");
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const page = {
    /** The data of the next event of this kind. */
    async next(event: string) {
      for (;;) {
        const end = text.indexOf("\n\n");
        if (end >= 0) {
          const [head = "", ...lines] = text.slice(0, end).split("\n");
          text = text.slice(end + 2);
          if (head === `event: ${event}`) return lines.map((line) => line.replace(/^data: /, "")).join("\n");
          continue;
        }
        const read = await reader?.read();
        if (!read || read.done) throw new Error("the stream has ended");
        text += read.value;
      }
    },
    async leave() {
      await reader?.cancel();
    },
  };
  pages.push(page);
  return page;
}

/** The next event in which something stands. */
async function nextWith(page: Page, event: string, part: string): Promise<string> {
  for (;;) {
    const data = await page.next(event);
    if (data.includes(part)) return data;
  }
}

/** A ledger that counts what it is asked, and fails while it is told to. */
function watched() {
  let asked = 0;
  let away = false;
  const ledger: Context["ledger"] = new Proxy(desk.context.ledger, {
    get(target, name) {
      if (name !== "run") return Reflect.get(target, name);
      return async (...given: Parameters<typeof target.run>) => {
        asked += 1;
        if (away) throw new Error("the database is <away>");
        return target.run(...given);
      };
    },
  });
  return {
    context: { ...desk.context, ledger },
    count: () => asked,
    goAway: (now: boolean) => {
      away = now;
    },
  };
}

test("a page hears of what changes in the ledger, with the plot's points", async () => {
  const page = await open();
  await nextWith(page, "now", "<dt>Owed now</dt><dd>0</dd>");
  await owe(desk.db, 5);
  await nextWith(page, "now", "<dt>Owed now</dt><dd>5</dd>");
  const course = JSON.parse(await nextWith(page, "course", ">5</td>"));
  const [at, owed, late, sent] = course.series;
  expect([at.length, owed.length, late.length, sent.length]).toEqual(Array(4).fill(at.length));
  expect([owed.at(-1), late.at(-1), sent.at(-1)]).toEqual([5, 0, 0]);
  expect(at.at(-1) - at[0], "an hour, in steps of 15 s").toBe(240 * 15);

  await pause(desk.db.ledger, "bea", `<img src=x onerror="alert('1')">`);
  const paused = await nextWith(page, "now", "The sweeps are paused");
  expect(paused).toContain("(&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;)");
  expect(paused).not.toContain("<img");
});

test("each page has the points of its own span", async () => {
  const [hour, quarter] = [await open(), await open(desk.context, "/live?span=15m")];
  const steps = await Promise.all(
    [hour, quarter].map(async (page) => {
      const { series } = JSON.parse(await page.next("course"));
      return series[0][1] - series[0][0];
    }),
  );
  expect(steps).toEqual([15, 5]);
});

test("while the ledger does not answer the page says so, and goes on trying", async () => {
  const { context, goAway } = watched();
  const page = await open(context);
  await nextWith(page, "now", "Owed now");
  goAway(true);
  const silent = await nextWith(page, "now", "The ledger does not answer");
  expect(silent).toContain("the database is &lt;away&gt;");
  goAway(false);
  await nextWith(page, "now", "Owed now");
});

test("nothing is asked when nobody looks any more", async () => {
  const { context, count } = watched();
  const page = await open(context);
  await page.next("now");
  await page.next("now");
  await page.leave();
  const asked = count();
  expect(asked).toBeGreaterThan(0);
  // What was under way when the page was left, and no more: another page of the same ledger is told twice meanwhile.
  const other = await open();
  for (let times = 0; times < 3; times += 1) await other.next("now");
  const after = count();
  expect(after - asked).toBeLessThanOrEqual(5);
  for (let times = 0; times < 3; times += 1) await other.next("now");
  expect(count()).toBe(after);
});

test("HEAD begins no stream: nobody would say that it is left", async () => {
  const { context, count } = watched();
  const headers = { host: new URL(origin).host };
  const answer = await createApp(context).request(`${origin}/live`, { method: "HEAD", headers });
  expect([answer.status, count()]).toEqual([405, 0]);
});

test("when nobody can tell of the latest outage, that alone is said, and all else goes on", async () => {
  const desk = await createDesk();
  try {
    await desk.db.sql`REVOKE SELECT ON owed.pause FROM owed_reader`;
    await desk.db.sql`ALTER TABLE owed.pause RENAME TO pauses`;
    const page = await open(desk.context);
    expect(await nextWith(page, "now", "can't be told just now")).toContain("<dt>Owed now</dt><dd>0</dd>");
    expect((await get(desk.app, "/")).status).toBe(200);
    await page.leave();
  } finally {
    await desk.end();
  }
});
