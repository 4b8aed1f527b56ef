import { languages, templates } from "@owed/channel/templates";
import { type Rule, setRule } from "@owed/ledger";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registerShipment } from "../../../../tests/support/shipment.ts";
import { createDesk, type Desk, get } from "../testing/context.ts";
import { lineOf } from "./command-line.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await createDesk();
  await desk.db.sql`INSERT INTO owed.merchant (id, name) VALUES ('shop-7', 'Shop Seven')`;
});
afterAll(() => desk.end());

const hostile = `<script>alert("1")</script>' $(id)`;
const rule = (more: Partial<Rule>): Omit<Rule, "id"> => ({
  ...{
    merchantId: null,
    status: "customs_hold",
    role: "warehouse",
    channel: "sms",
    template: "customs_hold",
  },
  ...{ delay: 0, atTime: null, sendWithin: 604_800, onlyWhileCurrent: false, newestReplaces: true },
  ...{ onUnknown: "resend", silent: false },
  ...more,
});
const set = (more: Partial<Rule>, why = "asked for") =>
  setRule(desk.db.ledger, rule(more), { actor: "ann", why });
const plain = (text: string) =>
  text
    .replace(/<[^>]+>/g, " ")
    .replace(/\s+/g, " ")
    .replaceAll("&#39;", "'");

describe("the rules", () => {
  test("that count are listed: who is told what, when, and by whose rule", async () => {
    const { status, text } = await get(desk.app, "/rules");
    expect(status).toBe(200);
    expect(text).toContain("<caption>The default rules</caption>");
    expect(text).toContain("No merchant has rules of its own here.");
    expect(plain(text)).toMatch(/customs_hold buyer email customs_hold\.still after 1 d/);
    expect(plain(text)).toMatch(/\d+ errors?, \d+ warnings?, as owed rules check finds them/);
  });

  test("of one status and one merchant, beside the default ones", async () => {
    await set({
      merchantId: "shop-7",
      delay: 7200,
      atTime: "09:00",
      onlyWhileCurrent: true,
      onUnknown: "hold",
    });
    const { text } = await get(desk.app, "/rules?status=customs_hold&merchant=shop-7");
    expect(plain(text)).toContain(
      "shop-7 customs_hold warehouse sms customs_hold after 2 h, at 09:00 there, within 7 d only while it is the status, the newest replaces it, held when unknown",
    );
    expect(plain(text)).not.toMatch(/delivered (buyer|merchant) (email|sms|webhook)/);
    expect((await get(desk.app, "/rules?merchant=nobody")).text).toContain("has no rules of its own here");
    expect((await get(desk.app, "/rules?status=nowhere")).text).toContain("No default rule");
  });

  test("that nobody can follow are findings", async () => {
    await set({ merchantId: "shop-7", template: "gone", sendWithin: null });
    const { text } = await get(desk.app, "/rules");
    expect(plain(text)).toContain(
      "error : shop-7: customs_hold warehouse sms gone: there is no such template",
    );
  });

  test("have their versions, with who changed them and why, and the lines that change them", async () => {
    const merchant = { merchantId: "shop-7", status: "delivered" } as const;
    await set({ ...merchant, template: "delivered" }, "a first try");
    const id = await set({ ...merchant, template: "delivered", delay: 60 }, "not so fast");
    const list = await get(desk.app, "/rules?merchant=shop-7&status=delivered");
    const [, address = ""] = list.text.match(/href="(\/rules\/history\?merchant=shop-7[^"]+)"/) ?? [];
    const { status, text } = await get(desk.app, address.replaceAll("&amp;", "&"));
    expect(status).toBe(200);
    const shown = plain(text);
    expect(shown).toContain(
      "The own rule of the merchant shop-7 : delivered tells the warehouse by sms, delivered . It counts.",
    );
    expect(shown).toMatch(/2 \d+ after 1 min, within 7 d .* by ann : not so fast/);
    expect(shown).toMatch(/1 \d+ at once, within 7 d .* by ann : a first try .* by ann : not so fast/);
    expect(text).toContain(
      "rules set --merchant shop-7 --status delivered --role warehouse --channel sms --template delivered --dry-run --why &#39;your reason&#39;",
    );
    expect(text).toContain(`rules retire ${id} --why`);
  });

  test.each([
    ["/rules/history?status=delivered&role=buyer&channel=fax&template=x", 404, "There never was such a rule"],
    ["/rules/history", 400, "A rule is named by its status, role, channel and template."],
    ["/rules?merchant=a%00b", 400, "merchant has no control characters."],
    [`/rules?status=${"s".repeat(201)}`, 400, "status has 200 characters at most."],
  ])("can't be asked for by %s", async (path, status, sentence) => {
    const answer = await get(desk.app, path);
    expect(answer.status).toBe(status);
    expect(answer.text).toContain(sentence);
  });

  test("with hostile reasons are shown, act nowhere, and make no other command", async () => {
    await set({ merchantId: "shop-7", template: "gone", delay: 5 }, hostile);
    const merchant = encodeURIComponent(hostile);
    for (const path of [
      `/rules?merchant=${merchant}`,
      `/rules/history?merchant=shop-7&status=customs_hold&role=warehouse&channel=sms&template=gone`,
    ]) {
      const { status, text } = await get(desk.app, path);
      expect(status, path).toBe(200);
      expect(text, path).not.toContain("<script>alert");
      expect(text, path).toContain("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;");
    }
    const line = lineOf(desk.context, ["rules", "set", "--merchant", hostile]);
    expect(line).toBe(
      `npx sst shell --stage test -- npm run owed -- rules set --merchant '<script>alert("1")</script>'\\'' $(id)'`,
    );
    expect(lineOf(desk.context, ["a\nb"])).toMatch(/ 'a\\nb'$/);
  });
});

describe("what an event would tell", () => {
  test("asks first, and has each status to choose", async () => {
    const { status, text } = await get(desk.app, "/rules/try");
    expect(status).toBe(200);
    expect(text).toContain('<option value="customs_hold" >customs_hold</option>');
    expect(text).not.toContain("Would be told");
  });

  test("is said for a shipment, by the rules that count, and nothing is recorded", async () => {
    const shipment = await registerShipment(desk.db);
    const { text } = await get(desk.app, `/rules/try?shipment=${shipment}&status=delivered&at=`);
    expect(plain(text)).toMatch(/buyer-1 buyer email delivered .* UTC – \d+ version 1/);
    expect(text).toContain(`rules try --shipment ${shipment} --status delivered`);
    expect(await desk.db.sql`SELECT FROM owed.event WHERE shipment_id = ${shipment}`).toHaveLength(0);
  });

  test("is nobody where nobody is subscribed, and says of an unknown shipment that it is none", async () => {
    const shipment = await registerShipment(desk.db, []);
    const asked = (id: string) =>
      get(desk.app, `/rules/try?shipment=${encodeURIComponent(id)}&status=delivered`);
    expect((await asked(shipment)).text).toContain("Nobody would be told.");
    const { text } = await asked(hostile);
    expect(text).toContain("There is no shipment <bdi>&lt;script&gt;");
    expect(text).not.toContain("<script>alert");
  });

  test.each([
    ["shipment=S-1&status=nowhere", "There is no status nowhere; there are "],
    ["shipment=S-1&status=delivered&at=noon", "at must be a time that exists"],
    ["shipment=a%00b&status=delivered", "shipment has no control characters."],
  ])("is not asked by %s", async (query, sentence) => {
    const { status, text } = await get(desk.app, `/rules/try?${query}`);
    expect(status).toBe(400);
    expect(text).toContain(sentence);
  });
});

describe("templates", () => {
  test("are there in each language and channel, each with its preview", async () => {
    const { text } = await get(desk.app, "/rules/templates");
    const links = [...text.matchAll(/href="(\/rules\/templates\/preview[^"]+)"/g)].map(
      ([, path]) => path ?? "",
    );
    expect(links).toHaveLength(templates.length * 3 * languages().size);
    for (const path of links) {
      const { status, text } = await get(desk.app, path.replaceAll("&amp;", "&"));
      expect(status, path).toBe(200);
      expect(text, path).toContain("Nothing: no value is missing");
    }
  });

  test("as an email: a frame of its own that loads nothing and runs nothing, and the text part", async () => {
    const { text, headers } = await get(desk.app, "/rules/templates/preview?template=delivered&locale=ar");
    const [, source = ""] = text.match(/<iframe class="message-page" sandbox src="([^"]+)"/) ?? [];
    expect(text).toMatch(/<pre class="message" lang="ar" dir="rtl"/);
    expect(headers.get("content-security-policy")).not.toContain("unsafe-inline");
    const frame = await get(desk.app, source.replaceAll("&amp;", "&"));
    expect(frame.text).toContain('<html lang="ar" dir="rtl">');
    expect(frame.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'self'; base-uri 'none'; sandbox\s*$/,
    );
    expect(frame.headers.get("x-frame-options")).toBe("SAMEORIGIN");
    expect((await get(desk.app, source, { host: "evil.example" })).status).toBe(421);
  });

  test("as a text: with its segments, and to whom", async () => {
    const asked = "/rules/templates/preview?template=customs_hold&channel=sms";
    const { text } = await get(desk.app, `${asked}&locale=de&parcel=X1`);
    expect(plain(text)).toMatch(/Segments, each paid for 1 Encoding GSM-7/);
    expect(text).toMatch(/<p class="message" lang="de" dir="ltr">[^<]*X1/);
    expect(plain((await get(desk.app, `${asked}&locale=ar`)).text)).toMatch(/Encoding UCS-2/);
  });

  test("as a webhook: its words as JSON", async () => {
    const { text } = await get(
      desk.app,
      "/rules/templates/preview?template=delivered&channel=webhook&role=merchant",
    );
    expect(text).toContain("&quot;title&quot;: &quot;");
  });

  test("with hostile values: shown, and acting nowhere", async () => {
    const query = new URLSearchParams({
      merchant: hostile,
      name: hostile,
      parcel: hostile,
      template: "delivered",
    });
    for (const channel of ["email", "sms", "webhook"]) {
      query.set("channel", channel);
      for (const page of ["preview", "email"]) {
        const { status, text } = await get(desk.app, `/rules/templates/${page}?${query}`);
        expect(status).toBe(200);
        expect(text).not.toContain("<script>alert");
        expect(text).toContain("&lt;script&gt;");
      }
    }
  });

  test.each([
    ["template=gone", "There is no template gone; there are picked_up"],
    ["channel=fax", "There is no channel fax; there are email, sms, webhook."],
    ["locale=xx", "There is no language xx; there are "],
    ["role=boss", "There is no role boss"],
    [`name=${"n".repeat(101)}`, "name has 100 characters at most."],
  ])("can't be asked for by %s", async (query, sentence) => {
    for (const page of ["preview", "email"]) {
      const { status, text } = await get(desk.app, `/rules/templates/${page}?${query}`);
      expect(status).toBe(400);
      expect(text).toContain(sentence);
    }
  });
});
