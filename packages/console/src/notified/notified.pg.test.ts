import { afterAll, beforeAll, expect, test } from "vitest";
import { happen, registerShipment } from "../../../../tests/support/shipment.ts";
import { deliverAs, idsOf } from "../../../cli/src/testing.ts";
import { createDesk, type Desk, get } from "../testing/context.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await createDesk();
});
afterAll(() => desk.end());

const hostile = `"><script>alert('x')</script>`;
const escaped = "&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;";

const subscribe = (shipment: string, recipient: string, channel: string, address: string) =>
  desk.db.sql`SELECT owed.subscribe(${shipment}, ${recipient}, 'buyer', ${channel}, ${address}, 'Ann')`;

/** A shipment whose buyer was told by email, and whose agent could not be. */
async function told(): Promise<{ shipment: string; event: string; buyer: string; agent: string }> {
  const shipment = await registerShipment(desk.db, ["buyer", "agent"]);
  const event = await happen(desk.db, shipment, "delivery_exception");
  const [buyer = "", agent = ""] = await idsOf(desk, shipment);
  await deliverAs(desk, buyer, { kind: "accepted", provider: "ses", providerMessageId: `0100-${shipment}` });
  await deliverAs(desk, agent, { kind: "refused", reason: "InvalidAddress: address has a space" });
  return { shipment, event, buyer, agent };
}

const search = (by: string, value: string) =>
  get(desk.app, `/notified?${new URLSearchParams({ by, value })}`);
const answer = (shipment: string, more: Record<string, string> = {}, path = "/notified") =>
  get(desk.app, `${path}?${new URLSearchParams({ shipment, ...more })}`);

/** A page's text without its tags. */
const plain = (text: string) => text.replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");

test("before anything is asked there is the form, on an empty ledger too", async () => {
  const { status, text } = await get(desk.app, "/notified");
  expect(status).toBe(200);
  expect(text).toContain('<form method="get" action="/notified" class="ask" role="search">');
  for (const way of ["any", "shipment", "recipient", "address", "message"])
    expect(text).toContain(`<option value="${way}"`);
  const nothing = await search("any", "S-nowhere");
  expect(nothing.status).toBe(200);
  expect(nothing.text).toContain("the ledger has nothing for S-nowhere, as a shipment, a recipient");
  expect(nothing.text).toContain('value="S-nowhere"');
});

test("the answer in a sentence for each, then the evidence, what happened and the rules", async () => {
  const { shipment, event, buyer, agent } = await told();
  const { status, text } = await answer(shipment);
  expect(status).toBe(200);
  const read = plain(text);
  expect(read).toMatch(
    new RegExp(
      `Yes, buyer-1 was notified of delivery_exception \\(event ${event}\\): the email was accepted by ses at \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC, as its message 0100-${shipment}, as its reply says`,
    ),
  );
  expect(read).toMatch(
    /No, agent-1 was not notified .* after 1 try \(InvalidAddress: address has a space\)\./,
  );
  expect(text).toMatch(/<li class="yes">Yes, buyer-1/);
  expect(read).toContain(
    "Nothing by webhook to the merchant about delivery_exception: no merchant is subscribed",
  );
  for (const id of [buyer, agent]) expect(text).toContain(`<a href="/notified/${id}">${id}</a>`);
  expect(
    read.match(new RegExp(`the shipment came into delivery_exception \\(event ${event}\\)`, "g")),
  ).toHaveLength(1);
  expect(read).toContain("refused for good: dead: InvalidAddress: address has a space");
  expect(read).toContain("delivered: ses accepted it");
  expect(text).toMatch(/The rules as they counted when the events were recorded<\/caption>/);
  expect(read).toMatch(/delivery_exceptionbuyeremaildelivery_exceptionat once/);
});

test("addresses are masked until somebody asks for them", async () => {
  const { shipment } = await told();
  const masked = await answer(shipment);
  expect(masked.text).toContain("b***@example.com");
  expect(masked.text).not.toContain("buyer@example.com");
  expect(masked.text).toContain(`<a href="/notified?shipment=${shipment}&amp;full=1">Show addresses</a>`);
  const full = await answer(shipment, { full: "1" });
  expect(full.text).toContain("buyer@example.com");
  expect(full.text).toContain(`<a href="/notified?shipment=${shipment}">Mask addresses</a>`);
  expect(full.text).toContain(`/notified.csv?shipment=${shipment}&amp;full=1`);
});

test("one recipient alone", async () => {
  const { shipment } = await told();
  const { text } = await answer(shipment, { recipient: "agent-1" });
  expect(text).toContain("No, agent-1 was not notified");
  expect(text).not.toContain("buyer-1 was notified");
  expect(text).toContain(`<a href="/notified?shipment=${shipment}">All recipients of the shipment</a>`);
});

test("a shipment that nobody was told anything of", async () => {
  const shipment = await registerShipment(desk.db);
  const { status, text } = await answer(shipment);
  expect(status).toBe(200);
  expect(text).toContain(`The ledger has no event of shipment ${shipment}`);
  expect(text).not.toContain("<h2>Evidence</h2>");
});

test("a search that means one shipment goes to its answer", async () => {
  const { shipment } = await told();
  await subscribe(shipment, "ann", "sms", "+12025550143");
  const to = async (by: string, value: string) => {
    const { status, headers } = await search(by, value);
    return [status, headers.get("location")];
  };
  expect(await to("shipment", "S-any where")).toEqual([302, "/notified?shipment=S-any+where"]);
  expect(await to("any", shipment)).toEqual([302, `/notified?shipment=${shipment}`]);
  const ann = [302, `/notified?shipment=${shipment}&recipient=ann`];
  expect(await to("recipient", "ann")).toEqual(ann);
  expect(await to("any", "ann")).toEqual(ann);
  expect(await to("any", "+1 202 555 0143")).toEqual(ann);
  const buyer = [302, `/notified?shipment=${shipment}&recipient=buyer-1`];
  expect(await to("message", `0100-${shipment}`)).toEqual(buyer);
  expect(await to("any", `0100-${shipment}`)).toEqual(buyer);
});

test("a search that fits several shipments lists them, and what they hold is text", async () => {
  const shipments = [await registerShipment(desk.db, []), await registerShipment(desk.db, [])];
  await desk.db.sql`INSERT INTO owed.merchant (id, name) VALUES ('M-evil', ${hostile})`;
  for (const shipment of shipments) {
    await desk.db.sql`UPDATE owed.shipment SET merchant_id = 'M-evil' WHERE id = ${shipment}`;
    await subscribe(shipment, "eve@1", "email", "eve@example.com");
  }
  for (const [by, value] of [
    ["recipient", "eve@1"],
    ["address", "EVE@example.com"],
    ["any", "eve@example.com"],
  ] as const) {
    const { status, text } = await search(by, value);
    expect(status).toBe(200);
    for (const shipment of shipments)
      expect(text).toContain(
        `<td class=""><a href="/notified?shipment=${shipment}&amp;recipient=eve%401">${shipment}</a></td>`,
      );
    expect(text).toContain(escaped);
    expect(text).not.toContain(hostile);
  }
  expect((await search("any", hostile)).text).not.toContain(hostile);
});

test("whatever the ledger holds is text on the answer's page", async () => {
  const shipment = await registerShipment(desk.db, ["buyer", "agent"]);
  await happen(desk.db, shipment, "delivery_exception");
  const [buyer = "", agent = ""] = await idsOf(desk, shipment);
  await deliverAs(desk, buyer, { kind: "accepted", provider: "ses", providerMessageId: hostile });
  await deliverAs(desk, agent, { kind: "refused", reason: hostile });
  for (const path of [`/notified?shipment=${shipment}`, `/notified/${buyer}`, `/notified/${agent}`]) {
    const { status, text } = await get(desk.app, path);
    expect(status).toBe(200);
    expect(text).toContain(escaped);
    expect(text).not.toContain(hostile);
  }
});

test("what is misspelt is not found, in a sentence, with the form as it was", async () => {
  const unknown = await answer(`S-nowhere${hostile}`);
  expect(unknown.status).toBe(404);
  expect(unknown.text).toContain("the ledger knows no shipment S-nowhere");
  expect(unknown.text).toContain('role="search"');
  expect(unknown.text).toContain(escaped);
  expect(unknown.text).not.toContain(hostile);
  const shipment = await registerShipment(desk.db);
  const recipient = await answer(shipment, { recipient: "byer-1" });
  expect([recipient.status, recipient.text.includes("it has for buyer-1")]).toEqual([404, true]);
});

test.each([
  "/notified?by=name&value=x",
  "/notified?value=",
  "/notified?shipment=",
  "/notified?shipment=S%00",
  "/notified?shipment=S-1&full=2",
  "/notified.json",
  "/notified.csv?recipient=ann",
])("%s does not say what is asked: 400", async (path) => {
  const { status, text } = await get(desk.app, path);
  expect(status).toBe(400);
  expect(text).toContain("does not say what is asked");
});

test("as JSON: what the command line prints, as a file", async () => {
  const { shipment, buyer, agent } = await told();
  const { status, text, headers } = await answer(shipment, {}, "/notified.json");
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
  expect(headers.get("content-disposition")).toBe(`attachment; filename="owed-audit_${shipment}.json"`);
  expect(JSON.parse(text)).toMatchObject({
    shipmentId: shipment,
    answers: [
      { answer: "yes", notifications: [buyer] },
      { answer: "no", notifications: [agent] },
    ],
    untold: expect.arrayContaining([expect.objectContaining({ role: "merchant", why: "nobody" })]),
    notifications: [{ id: buyer, sentTo: "b***@example.com" }, { id: agent }],
  });
  expect((await answer(shipment, { full: "1" }, "/notified.json")).text).toContain("buyer@example.com");
  expect((await answer("nowhere", {}, "/notified.json")).status).toBe(404);
});

test("as CSV: the page's answers, and no formula, under a name that is one everywhere", async () => {
  const shipment = await registerShipment(desk.db, [], "-S:1..a");
  await subscribe(shipment, "@eve", "email", "eve@example.com");
  await happen(desk.db, shipment, "delivery_exception");
  const [id = ""] = await idsOf(desk, shipment);
  await deliverAs(desk, id, { kind: "accepted", provider: "ses", providerMessageId: '=1+"1"' });
  const { status, text, headers } = await answer(shipment, { recipient: "@eve" }, "/notified.csv");
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(headers.get("content-disposition")).toBe('attachment; filename="owed-audit_-S-1-a_-eve.csv"');
  const [head = "", first = "", ...rest] = text.split("\r\n");
  expect(head).toMatch(/^shipment,event,status,occurred,recipient,role,channel,answer,sentence,state,/);
  expect(first).toMatch(
    /^'-S:1\.\.a,E-[^,]+,delivery_exception,[^,]+Z,'@eve,buyer,email,yes,"Yes, @eve was notified/,
  );
  expect(first).toMatch(new RegExp(`,ses,"'=1\\+""1""",e\\*\\*\\*@example\\.com,${id}$`));
  expect(rest.join("\n")).toMatch(
    /^'-S:1\.\.a,E-[^,]+,delivery_exception,,,buyer,sms,told_nothing,Nothing by sms to the buyer about delivery_exception: /m,
  );
});
