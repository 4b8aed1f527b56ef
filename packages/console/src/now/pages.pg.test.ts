import { recordLimits } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { owe } from "../../../../tests/support/shipment.ts";
import { passTime } from "../../../../tests/support/time.ts";
import { createDesk, type Desk, get, post } from "../testing/context.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await createDesk();
});
afterEach(async () => {
  const { sql } = desk.db;
  await sql`UPDATE owed.heartbeat SET paused_at = NULL, paused_by = NULL, paused_why = NULL`;
  await sql`UPDATE owed.channel SET closed_at = NULL, closed_until = NULL, closed_for = NULL, closed_why = NULL`;
});
afterAll(() => desk.end());

const page = async (path = "/") => {
  const { status, text } = await get(desk.app, path);
  expect(status).toBe(200);
  return text.replaceAll(/\s+/g, " ");
};

test("an empty ledger, before its first sweep", async () => {
  const text = await page();
  expect(text).toContain("<dt>Owed now</dt><dd>0</dd>");
  expect(text).toContain("<dt>The oldest of it</dt><dd>–</dd>");
  expect(text).toContain("<dt>Sent in the last minute</dt><dd>0</dd>");
  expect(text).toContain("<dt>Time to drain</dt><dd>nothing to drain</dd>");
  expect(text).toContain("No sweep has come to its end yet</strong>: what falls due waits in the ledger.");
  expect(text).toContain("30 with no sweep.");
  expect(text).toMatch(/<td class="">email<\/td><td class="">open<\/td>/);
});

test("what is owed, how old, since when no sweep came, and how long it takes", async () => {
  await owe(desk.db, 3);
  await passTime(desk.db.sql, 240);
  await desk.db
    .sql`INSERT INTO owed.sweep_run (started_at, finished_at, published) VALUES (now() - interval '245 s', now() - interval '241 s', 7)`;
  await recordLimits(desk.db.ledger, "email", { rate: 0.5, quota: 200, used: 40 }, 900);
  const text = await page();
  expect(text).toContain("<dt>Owed now</dt><dd>3</dd>");
  expect(text).toMatch(/<dt>The oldest of it<\/dt><dd>4 min( \d s)? old<\/dd>/);
  expect(text).toContain("<dt>Time to drain</dt><dd>6 s</dd>");
  expect(text).toMatch(/No sweep for 4 min( \d s)?<\/strong>: what falls due waits in the ledger\./);
  expect(text).toContain("1 with a sweep that came to its end, 29 with no sweep.");
  expect(text).toMatch(/<td class="number">0.5\/s<\/td><td class="number">40 of 200<\/td>/);
  expect(text, "the table beside the plot has what fell due, and that it is late").toMatch(
    /<td class="number">3<\/td><td class="number">0<\/td><td class="number">3<\/td><td class="number">0<\/td><\/tr>/,
  );
  expect(text).toMatch(
    /UTC<\/time><\/td><td class="number">0<\/td><td class="number">0<\/td><td class="number">3<\/td><td class="number">3<\/td>/,
  );
});

test("each span has its link; another one is refused in a sentence, and a hostile one is harmless", async () => {
  for (const span of ["15m", "1h", "6h", "24h"]) {
    const text = await page(`/?span=${span}`);
    expect(text).toContain(`<a href="/?span=${span}" aria-current="true">`);
    expect(text).toContain(`data-span="${span}"`);
  }
  for (const path of ["/", "/live"]) {
    const { status, text } = await get(desk.app, `${path}?span=${encodeURIComponent('"><script>1h')}`);
    expect(status).toBe(400);
    expect(text).toContain("take one of 15m, 1h, 6h, 24h");
    expect(text).not.toContain("<script>1h");
  }
  expect((await get(desk.app, "/?span=constructor")).status).toBe(400);
});

test("pause and resume: who and why are recorded and seen, and doing it twice does nothing", async () => {
  const paused = await post(desk.app, "/sweeps/pause", { why: " provider maintenance " });
  expect([paused.status, paused.to.startsWith("/?")]).toEqual([303, true]);
  expect(paused.said).toBe("The sweeps are paused. What falls due waits in the ledger.");
  const rows = await desk.db.sql`SELECT paused_by, paused_why FROM owed.heartbeat`;
  expect([...rows]).toEqual([{ paused_by: "ada", paused_why: "provider maintenance" }]);
  expect(await page()).toMatch(
    /The sweeps are paused<\/strong> by ada since <time datetime="[^"]+">[^<]+ UTC<\/time> \(provider maintenance\): what falls due waits/,
  );
  const twice = await post(desk.app, "/sweeps/pause", { why: "me too" });
  expect(twice.said).toBe("The sweeps were paused already: nothing was done.");

  const resumed = await post(desk.app, "/sweeps/resume", { why: "it is over" });
  expect(resumed.said).toBe("The sweeps run again: the next one begins to drain (ada: it is over).");
  expect((await desk.db.sql`SELECT FROM owed.heartbeat WHERE paused_at IS NULL`).count).toBe(1);
  const again = await post(desk.app, "/sweeps/resume", { why: "once more" });
  expect(again.said).toBe("The sweeps were not paused: nothing was done.");
  expect(await page()).toMatch(/ada<\/td><td[^>]*>let run again: sweeps<\/td><td[^>]*>it is over/);
});

test("close and open a channel: who and why stand on it, until when is said", async () => {
  const closed = await post(desk.app, "/channels/close", { channel: "email", why: "wrong template" });
  expect(closed.said).toBe("The channel email is closed. What falls due waits in the ledger.");
  const [row] = await desk.db.sql`SELECT closed_for, closed_why FROM owed.channel WHERE name = 'email'`;
  expect(row).toEqual({ closed_for: "operator", closed_why: "ada: wrong template" });
  expect(await page()).toMatch(
    /closed<\/strong> since \S+Z until somebody opens it \(owed open email\): somebody closed it \(ada: wrong template\)/,
  );
  const twice = await post(desk.app, "/channels/close", { channel: "email", why: "me too" });
  expect(twice.said).toContain("closed by somebody already");

  const opened = await post(desk.app, "/channels/open", { channel: "email", why: "corrected" });
  expect(opened.said).toContain("The channel email is open");
  expect((await desk.db.sql`SELECT FROM owed.channel WHERE closed_until > now()`).count).toBe(0);
  expect((await post(desk.app, "/channels/open", { channel: "email", why: "corrected" })).said).toContain(
    "was open",
  );
});

test("a channel that there is not is refused, without or with a name", async () => {
  for (const path of ["/channels/close", "/channels/open"]) {
    for (const fields of [{ channel: "pigeon" }, { channel: ["pigeon", "email"] }]) {
      const { status, text } = await post(desk.app, path, { ...fields, why: "a test" });
      expect(status).toBe(409);
      expect(text).toContain("there is no channel");
    }
    for (const fields of [{}, { channel: "e\0mail" }, { channel: "x".repeat(51) }]) {
      const { status, text } = await post(desk.app, path, { ...fields, why: "a test" });
      expect(status).toBe(400);
      expect(text).toContain("Choose a channel");
    }
  }
});

test("what people wrote is shown as they wrote it, and does nothing", async () => {
  const hostile = `<script>alert("1")</script>" onfocus='x' &amp;`;
  const escaped = "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&quot; onfocus=&#39;x&#39; &amp;amp;";
  await post(desk.app, "/sweeps/pause", { why: hostile });
  await post(desk.app, "/channels/close", { channel: "email", why: hostile });
  const text = await page(`/?said=${encodeURIComponent(hostile)}`);
  // At the heartbeat, at the channel, and twice among what people did; a notice that is not the console's own is none.
  expect(text.split(escaped)).toHaveLength(5);
  expect(text).not.toContain('class="notice"');
  expect(text).not.toContain("<script>alert");
  expect(text).not.toMatch(/<[^>]* onfocus=/);
});

test("without --write there is no form, and what is sent all the same changes nothing", async () => {
  const reader = await createDesk({ readOnly: true });
  try {
    const { text } = await get(reader.app, "/");
    expect(text).not.toContain("<form");
    expect(text).toContain('<span class="tag">read-only</span>');
    for (const path of ["/sweeps/pause", "/sweeps/resume", "/channels/close", "/channels/open"]) {
      const answer = await post(reader.app, path, { channel: "email", why: "a test" });
      expect(answer.status).toBe(403);
      expect(answer.text).toContain("start it with --write");
    }
    expect((await reader.db.sql`SELECT FROM owed.heartbeat WHERE paused_at IS NULL`).count).toBe(1);
    expect((await reader.db.sql`SELECT FROM owed.channel WHERE closed_until > now()`).count).toBe(0);
  } finally {
    await reader.end();
  }
});
