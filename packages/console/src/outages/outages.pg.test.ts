import { pause, resume } from "@owed/ledger";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createDesk, type Desk, get } from "../testing/context.ts";
import { beat, clear, fellDue, plain, sendAll } from "./testing.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await createDesk();
});
beforeEach(() => clear(desk));
afterAll(() => desk.end());

/** The page of the one outage that the list has. */
async function onlyAddress(): Promise<string> {
  const { text } = await get(desk.app, "/outages");
  const found = [...text.matchAll(/href="(\/outages\/[^"]+)"/g)].map(([, path]) => path ?? "");
  if (found.length !== 1) throw new Error(`${found.length} outages`);
  return found[0] ?? "";
}
describe("the list", () => {
  test("of a ledger without an outage says so", async () => {
    await beat(desk, 200, 0);
    const { status, text } = await get(desk.app, "/outages");
    expect(status).toBe(200);
    expect(text).toContain("0 outages in the last 7 days.");
    expect(text).not.toContain("<table>");
  });

  test("has each gap: when, how long, who paused and why, failed sweeps, and what is owed of it", async () => {
    await beat(desk, 200, 100);
    await beat(desk, 90, 80, false);
    await beat(desk, 20, 0);
    await fellDue(desk, 3);
    await pause(desk.db.ledger, "ana", "maintenance");
    await resume(desk.db.ledger, { actor: "ana", why: null });
    await desk.db
      .sql`UPDATE owed.pause SET paused_at = now() - interval '99 minutes', resumed_at = now() - interval '21 minutes'`;
    const { text } = await get(desk.app, "/outages");
    const shown = plain(text);
    expect(shown).toContain("1 outage in the last 7 days.");
    expect(shown).toContain("1 h 20 min");
    expect(shown).toMatch(/Paused by ana at \S+ \S+ UTC, resumed at \S+ \S+ UTC: maintenance\./);
    expect(shown).toContain("11 sweeps began in it and did not come to the end.");
    expect(shown).toContain("3 still owed");
    await sendAll(desk);
    expect(plain((await get(desk.app, "/outages")).text)).toContain("nothing owed");
  });

  test("shows an outage that goes on, reads itself again, and has it as ended after the next sweep", async () => {
    await beat(desk, 200, 100);
    const open = await get(desk.app, "/outages");
    expect(open.text).toContain('data-every="5"');
    expect(open.text).toContain("goes on, 0 owed");
    expect(open.text).toContain("/assets/refresh.js");
    await beat(desk, 2, 0);
    const ended = await get(desk.app, "/outages");
    expect(ended.text).not.toContain("goes on");
    expect(ended.text).toContain('data-every="30"');
  });

  test("of a window and of one merchant", async () => {
    await beat(desk, 200, 100);
    await beat(desk, 20, 0);
    await fellDue(desk, 2);
    const before = new Date(Date.now() - 3 * 3_600_000).toISOString();
    expect((await get(desk.app, `/outages?until=${before}`)).text).toContain(
      `0 outages in the last 7 days until ${before}.`,
    );
    // As the page's own form sends it: without an offset, with what is left blank.
    const since = new Date(Date.now() - 3_600_000).toISOString().slice(0, 16);
    const { text } = await get(desk.app, `/outages?since=${since}&until=&merchant=nobody`);
    expect(text).toContain("1 outage since");
    expect(text).toMatch(/href="\/outages\/[^"]+\?merchant=nobody"/);
    expect(text).toContain("nothing owed");
  });

  test.each([
    ["since=yesterday", "since must be a time that exists"],
    ["until=2026-02-30T10:00:00Z", "until must be a time that exists"],
    ["since=2026-03-02T00:00&until=2026-03-01T00:00", "since must be before until."],
    [`merchant=${"m".repeat(201)}`, "no longer than 200 characters"],
    ["merchant=a%00b", "no control characters"],
  ])("refuses what it can't understand, in a sentence: %s", async (query, sentence) => {
    const { status, text } = await get(desk.app, `/outages?${query}`);
    expect(status).toBe(400);
    expect(text).toContain(sentence);
  });
});

describe("one outage", () => {
  beforeEach(async () => {
    await beat(desk, 200, 100);
    await beat(desk, 20, 0);
  });

  test("says what became of it and what is still owed, with a link to each", async () => {
    await fellDue(desk, 3);
    await desk.db
      .sql`UPDATE owed.notification SET state = 'cancelled', cancelled_at = now(), reason = 'superseded', owed_at = NULL
      WHERE id = (SELECT min(id::text)::uuid FROM owed.notification)`;
    const { text } = await get(desk.app, await onlyAddress());
    const shown = plain(text);
    expect(shown).toContain(
      "2 notifications of that time are still owed: 3 due = 1 superseded + 2 still owed.",
    );
    expect(shown).toContain("Sweeps run again, and it is not drained yet");
    expect(text).toContain("data-every=");
    const rows = await desk.db.sql<
      { id: string }[]
    >`SELECT id FROM owed.notification WHERE state = 'pending'`;
    for (const { id } of rows) expect(text).toMatch(new RegExp(`href="[^"]*${id}"`));
  });

  test("is proven done, and rests then", async () => {
    await fellDue(desk, 4);
    await sendAll(desk);
    const { text, headers } = await get(desk.app, await onlyAddress());
    const shown = plain(text);
    expect(shown).toContain(
      "Nothing that fell due in it, or waited when it began, is still owed: 4 due = 4 sent.",
    );
    expect(shown).toMatch(/Late by, half of them ?42 min/);
    expect(text).not.toContain("data-every=");
    // The plot is a picture with words, and needs no exception from the policy.
    expect(text).toMatch(
      /<img src="data:image\/svg\+xml;base64,[^"]+" alt="Plot of notifications[^"]+up to 4 notifications were owed, and 0 at its end\.">/,
    );
    expect(headers.get("content-security-policy")).toContain("style-src 'self'");
    expect(text).not.toMatch(/ style=|<style|<script(?! type="module" src=)/);
    expect(text).toMatch(/<summary>The same in numbers<\/summary>/);
  });

  test("is savable as one file that needs and leads to nothing else", async () => {
    await fellDue(desk, 2);
    const address = await onlyAddress();
    const { status, text, headers } = await get(desk.app, `${address}.html`);
    expect(status).toBe(200);
    expect(headers.get("content-disposition")).toMatch(
      /^attachment; filename="owed-outage-test-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z\.html"$/,
    );
    expect(text).toMatch(/^<!doctype html>/);
    expect(text).toContain("<svg");
    expect(plain(text)).toContain("2 notifications of that time are still owed");
    expect(text).not.toMatch(/<(a|link|script|img|iframe)\b|url\(|@import|href=(?!"#)/);
  });

  test("is the command line's object as JSON, and its plot as SVG", async () => {
    await fellDue(desk, 2);
    const address = await onlyAddress();
    const json = await get(desk.app, `${address}.json`);
    expect(json.headers.get("content-type")).toMatch(/^application\/json/);
    expect(JSON.parse(json.text)).toMatchObject({
      ...{ gap: 180, merchant: null, addsUp: true, nothingOwed: false, more: false },
      outages: [
        { all: { due: 2, stillOwed: 2 }, proof: expect.stringContaining("still owed"), series: { step: 60 } },
      ],
    });
    const svg = await get(desk.app, `${address}.svg`);
    expect(svg.headers.get("content-type")).toMatch(/^image\/svg\+xml/);
    expect(svg.text).toMatch(/^<svg /);
    expect(svg.text).not.toMatch(/<script|style=|href=/);
  });

  test("of dead ones has their reasons, and where to go with them", async () => {
    await fellDue(desk, 1);
    await desk.db
      .sql`UPDATE owed.notification SET state = 'dead', stopped_at = now(), reason = 'InvalidAddress: it has a space', owed_at = NULL`;
    const { text } = await get(desk.app, await onlyAddress());
    expect(plain(text)).toContain("Dead: 1 for InvalidAddress.");
    expect(text).toContain('href="/dead"');
  });

  test.each([
    "/outages/2020-01-01T00:00:00.000Z",
    "/outages/2020-01-01T00:00:00.000Z.html",
    "/outages/yesterday",
    "/outages/.svg",
  ])("that never was is no page: %s", async (path) => {
    const { status, text } = await get(desk.app, path);
    expect(status).toBe(404);
    expect(text).toContain("No outage began at");
  });
});

test("what people and the ledger wrote is shown, and acts nowhere", async () => {
  await beat(desk, 200, 100);
  const hostile = `<script>alert("1")</script>" onload='x'`;
  await fellDue(desk, 2);
  await desk.db
    .sql`UPDATE owed.notification SET state = 'dead', stopped_at = now(), reason = ${`${hostile}: x`}, owed_at = NULL
    WHERE id = (SELECT min(id::text)::uuid FROM owed.notification)`;
  await desk.db.sql`UPDATE owed.notification SET reason = ${hostile} WHERE state = 'pending'`;
  await pause(desk.db.ledger, hostile.slice(0, 90), hostile);
  const address = await onlyAddress();
  const merchant = encodeURIComponent(hostile);
  for (const path of [
    "/outages",
    address,
    `${address}.html`,
    `/outages?merchant=${merchant}`,
    `${address}?merchant=${merchant}`,
    `${address}.html?merchant=${merchant}`,
  ]) {
    const { status, text } = await get(desk.app, path);
    expect(status, path).toBe(200);
    expect(text, path).not.toContain("<script>alert");
    expect(text, path).not.toContain(`" onload=`);
    expect(text, path).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;");
  }
});
