import { afterAll, beforeAll, expect, test } from "vitest";
import { createDesk, type Desk, get, origin, post } from "../testing/context.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await createDesk();
});
afterAll(() => desk.end());

const pausedBy = async () => {
  const [row] = await desk.db.sql<{ paused_by: string | null }[]>`SELECT paused_by FROM owed.heartbeat`;
  return row?.paused_by;
};
const reason = { why: "a test" };

test("a page elsewhere whose name was bent to this machine gets nothing", async () => {
  for (const host of ["evil.example", "127.0.0.1.evil.example:54320", "localhost.evil.example", ""]) {
    const answer = await get(desk.app, "/", { host });
    expect(answer.status, host).toBe(421);
    expect(answer.text).not.toContain(desk.context.token);
    expect((await get(desk.app, "/live", { host })).status).toBe(421);
    expect((await post(desk.app, "/sweeps/pause", reason, { host })).status).toBe(421);
  }
  for (const host of ["127.0.0.1:1234", "localhost:54320", "[::1]:54320"])
    expect((await get(desk.app, "/assets/style.css", { host })).status, host).toBe(200);
  expect(await pausedBy()).toBeNull();
});

test("what another origin sends changes nothing, token or not", async () => {
  const elsewhere = [
    { origin: "https://evil.example" },
    { origin: "http://127.0.0.1:1", "sec-fetch-site": "same-site" },
    { origin: "null" },
    { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
  ];
  for (const headers of elsewhere) {
    const answer = await post(desk.app, "/sweeps/pause", reason, headers);
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("another page than the console");
  }
  expect(await pausedBy()).toBeNull();
});

test("a form without this start's token changes nothing", async () => {
  for (const token of [null, "", "the-token-of-that-start", `${desk.context.token} `]) {
    const answer = await post(desk.app, "/sweeps/pause", { ...reason, token });
    expect(answer.status).toBe(403);
    expect(answer.text).toContain("load its page again");
  }
  const json = await desk.app.request(`${origin}/sweeps/pause`, {
    method: "POST",
    headers: { host: new URL(origin).host, "content-type": "application/json" },
    body: JSON.stringify({ token: desk.context.token, ...reason }),
  });
  expect(json.status).toBe(403);
  expect(await pausedBy()).toBeNull();
});

test("nothing changes without a reason, or with one of blanks", async () => {
  for (const why of [null, "", " \n "]) {
    const answer = await post(desk.app, "/sweeps/pause", { why });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("Say why: the ledger keeps it.");
  }
  expect(await pausedBy()).toBeNull();
});

test("each answer forbids what a page does not need: scripts, styles and frames from elsewhere, and being framed", async () => {
  for (const path of ["/", "/assets/now.js", "/no-such-page", "/?span=x"]) {
    const { headers } = await get(desk.app, path);
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    );
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("same-origin");
    expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
  }
});

test("no page has a script, a style or a handler in itself", async () => {
  for (const path of ["/", "/notified", "/dead", "/outages", "/rules", "/no-such-page"]) {
    const { text } = await get(desk.app, path);
    expect(text).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/i);
    for (const script of text.match(/<script\b[^>]*>[^<]*/g) ?? [])
      expect(script).toMatch(/^<script type="module" src="\/assets\/[a-z]+\.js">$/);
  }
});

test.each(["/dead/", "/notified/", "/outages/", "/rules/"])(
  "%s: a slash more leads to the same page",
  async (path) => {
    const [slashed, plain] = [await get(desk.app, path), await get(desk.app, path.slice(0, -1))];
    expect(slashed.status).toBe(200);
    const heading = /<h1>.*<\/h1>/;
    expect(slashed.text).toMatch(heading);
    expect(heading.exec(slashed.text)?.[0]).toBe(heading.exec(plain.text)?.[0]);
  },
);

test("what is at no address is said with the address, harmless", async () => {
  const { status, text } = await get(desk.app, "/%3Cscript%3Ealert(1)%3C/script%3E");
  expect(status).toBe(404);
  expect(text).toContain("There is no such page");
  expect(text).not.toContain("<script>alert");
});

test("the assets are there, and nothing beside them", async () => {
  for (const [name, type] of [
    ["style.css", "text/css"],
    ["now.js", "text/javascript"],
    ["plot.js", "text/javascript"],
    ["uplot.js", "text/javascript"],
    ["uplot.css", "text/css"],
    ["icon.svg", "image/svg+xml"],
  ]) {
    const { status, headers, text } = await get(desk.app, `/assets/${name}`);
    expect(status, name).toBe(200);
    expect(headers.get("content-type")).toBe(`${type}; charset=utf-8`);
    expect(text.length).toBeGreaterThan(100);
  }
  for (const name of ["now.ts", "constructor", "..%2f..%2fpackage.json", "__proto__"])
    expect((await get(desk.app, `/assets/${name}`)).status, name).toBe(404);
});

test("a form that is too large, or none, is refused before it is read", async () => {
  const large = await post(desk.app, "/sweeps/pause", { why: "x".repeat(1_100_000) });
  expect([large.status, large.text.includes("too large")]).toEqual([413, true]);
  const headers = { host: new URL(origin).host, origin, "content-type": "multipart/form-data; boundary=x" };
  const broken = await desk.app.request(`${origin}/sweeps/pause`, {
    method: "POST",
    headers,
    body: "no parts",
  });
  expect(broken.status).toBe(400);
});
