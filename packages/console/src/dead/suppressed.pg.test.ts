import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { empty, newRow } from "../../../ledger/src/testing/rows.ts";
import { createApp } from "../app.ts";
import { createDesk, type Desk, get, post } from "../testing/context.ts";
import { read } from "./testing.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await createDesk();
});
afterAll(() => desk.end());
beforeEach(() => empty(desk.db));

async function suppress(address: string, detail = "Permanent: General"): Promise<void> {
  const id = await newRow(desk.db, "delivered");
  await desk.db.sql`
    INSERT INTO owed.suppression (channel, address, cause, detail, notification_id) VALUES ('email', ${address}, 'bounced', ${detail}, ${id})`;
}
const liftedBy = async () => {
  const [row] = await desk.db.sql`SELECT lifted_by, lifted_why FROM owed.suppression`;
  return { ...row };
};

test("listed with the address masked, unless it is asked for in full; found by address, upper and lower case alike", async () => {
  expect(read(await get(desk.app, "/dead/suppressed"))).toContain("No address is suppressed.");
  await suppress("ann@example.com");
  await suppress(`bob@example.com`, `<script>alert("x")</script>`);
  const { text } = await get(desk.app, "/dead/suppressed");
  expect(text).toContain("a***@example.com");
  expect(text).not.toContain("ann@example.com");
  expect(text).not.toContain("<script>alert");
  expect(text).not.toContain('action="/dead/lift"');
  expect((await get(desk.app, "/dead/suppressed?full=on")).text).toContain(
    '<a href="/dead/suppressed?address=ann%40example.com&amp;full=on">ann@example.com</a>',
  );
  const found = await get(desk.app, "/dead/suppressed?address=Ann@Example.com");
  expect(found.text).toContain("a***@example.com");
  expect(found.text).not.toContain("b***@example.com");
  expect(read(await get(desk.app, "/dead/suppressed?address=zoe@example.com"))).toContain(
    "This address is not suppressed.",
  );
  expect(
    (await get(desk.app, `/dead/suppressed?address=${encodeURIComponent('"><script>alert(1)')}`)).text,
  ).not.toContain("<script>alert");
});

test("lifted, with who and why, and what the provider keeps of its own", async () => {
  await suppress("ann@example.com");
  const page = await get(desk.app, "/dead/suppressed?address=ann@example.com");
  expect(page.text).toContain('action="/dead/lift"');
  expect(read(page)).toContain("SES keeps an account-level suppression list of its own.");
  const lift = { address: "ann@example.com", channel: "email" };
  const { status, said, to } = await post(desk.app, "/dead/lift", { ...lift, why: "she called" });
  expect(status).toBe(303);
  expect(said).toMatch(
    /^a\*\*\*@example\.com is written to again by email, from the next notification on\. SES keeps/,
  );
  expect(await liftedBy()).toEqual({ lifted_by: "ada", lifted_why: "she called" });
  expect(read(await get(desk.app, to))).toMatch(/by ada: she called/);
  const again = await post(desk.app, "/dead/lift", { ...lift, why: "she called" });
  expect([again.status, read(again)]).toEqual([
    409,
    expect.stringContaining("the address is not suppressed on the channel email"),
  ]);
});

test("refused: without the token, a reason or an address, in a console that only looks; a bad query is told", async () => {
  await suppress("ann@example.com");
  const looking = createApp({ ...desk.context, writer: null });
  const good = { address: "ann@example.com", channel: "email", why: "x" };
  expect((await post(desk.app, "/dead/lift", { ...good, token: null })).status).toBe(403);
  expect((await post(desk.app, "/dead/lift", { ...good, why: "" })).status).toBe(400);
  expect((await post(desk.app, "/dead/lift", { ...good, address: " " })).text).toContain("Give the address.");
  expect((await post(desk.app, "/dead/lift", { ...good, channel: "<b>" })).text).toContain(
    "The channel is a short word",
  );
  expect((await post(looking, "/dead/lift", good)).status).toBe(403);
  const { text } = await get(looking, "/dead/suppressed?address=ann@example.com");
  expect(text).toContain("This console only looks");
  expect(text).not.toContain('method="post"');
  expect(await liftedBy()).toEqual({ lifted_by: null, lifted_why: null });
  for (const query of ["full=yes", "address=%00", `address=${"x".repeat(1001)}`])
    expect((await get(desk.app, `/dead/suppressed?${query}`)).status, query).toBe(400);
});
