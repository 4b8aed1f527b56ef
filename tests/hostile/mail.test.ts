import { randomUUID } from "node:crypto";
import { registerShipment, subscribe } from "@owed/ledger";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Email } from "../../packages/local/src/ses/index.ts";
import { type Cloud, startCloud } from "../support/cloud.ts";
import { eventually } from "../support/eventually.ts";
import { countStates, readRows, statesAre } from "../support/ledger-rows.ts";
import { happen } from "../support/shipment.ts";

let cloud: Cloud;
/** What the provider was asked to send, by the shipment's tracking number or the recipient. */
let emails: Email[];
beforeAll(async () => {
  cloud = await startCloud();
});
afterEach(() => cloud.reset());
afterAll(() => cloud.stop());

type Person = { name?: string | null; address?: string; locale?: string };

/** Owes the buyer of a new shipment the news that it is held at customs. */
async function owe(
  { name = "Ana", address = "ana@example.com", locale = "en" }: Person,
  merchant = "Shop",
  parcel = "T-1",
) {
  const id = `S-${randomUUID()}`;
  const { ledger } = cloud;
  await registerShipment(ledger, {
    id,
    trackingNumber: parcel,
    merchant: { id: `M-${randomUUID()}`, name: merchant },
  });
  await subscribe(ledger, {
    shipmentId: id,
    recipientId: "buyer",
    role: "buyer",
    channel: "email",
    address,
    name,
    locale,
  });
  await happen(cloud, id, "out_for_delivery");
}

async function sendAll(states: Parameters<typeof statesAre>[1]): Promise<void> {
  emails = [];
  cloud.ses.faults.add((email) => void emails.push(email));
  await cloud.sweep();
  cloud.run("deliver");
  await statesAre(cloud, states);
}

/** As the mailbox shows it to a person: names decoded. */
async function shown(): Promise<
  { subject: string; destination: { to: string[] }; body: { text: string } }[]
> {
  const answer = await fetch(new URL("store", cloud.ses.mailboxUrl));
  return ((await answer.json()) as { emails: never[] }).emails;
}

/** Texts that the ledger takes as a name, and what a mail program shows of them. */
const names: [name: string, shown: string][] = [
  ["=?utf-8?Q?x=0D=0ABcc:_eve@example.org?=", "=?utf-8?Q?x=0D=0ABcc:_eve@example.org?="],
  ['" <eve@example.org>, "', '" <eve@example.org>, "'],
  ["Ana\u2028Bcc: eve@example.org", "Ana Bcc: eve@example.org"],
  ["\u202eanA\u202c", '"anA"'],
  ["{{ name }}{{ 7 | times: 7 }}{% assign x = 1 %}", "{{ name }}{{ 7 | times: 7 }}{% assign x = 1 %}"],
  ["<script>alert(1)</script>", "<script>alert(1)</script>"],
  [
    "Nguyễn Thị Minh Khai và Gia đình, Bà Rịa, Việt Nam",
    "Nguyễn Thị Minh Khai và Gia đình, Bà Rịa, Việt Nam",
  ],
  ["👩‍👩‍👧‍👦".repeat(5), "👩‍👩‍👧‍👦".repeat(5)],
  ["ليلى حداد", "ليلى حداد"],
  ["N".repeat(200), `${"N".repeat(59)}…`],
];

test("names of any kind reach one mailbox each, and stand in the email as they are", async () => {
  for (const [name] of names) await owe({ name });
  await sendAll({ delivered: names.length });
  expect(emails).toHaveLength(names.length);
  for (const { to, cc, bcc, replyTo, subject, source, tags } of emails) {
    expect({ to: to.length, cc, bcc, replyTo, source }).toEqual({
      to: 1,
      cc: [],
      bcc: [],
      replyTo: [],
      source: emails[0]?.source,
    });
    expect(to[0]).toMatch(/^[ -~]{15,320}$/);
    expect(to[0]).toMatch(/^("[^"\\]*"|=\?UTF-8\?B\?\S+\?=( =\?UTF-8\?B\?\S+\?=)*) <ana@example\.com>$/);
    for (const word of to[0]?.match(/=\?\S+\?=/g) ?? []) expect(word.length).toBeLessThanOrEqual(75);
    expect(subject).toBe("Parcel T-1 arrives today");
    expect(Object.keys(tags)).toEqual(["notification"]);
  }
  const read = (await shown()).map(({ destination }) =>
    destination.to[0]?.replace(/ <ana@example\.com>$/, ""),
  );
  for (const [, as] of names) expect(read).toContain(as);
});

test("templates and HTML in names, merchants and tracking numbers are text, in all parts of the email", async () => {
  const evil = [
    "<img src=x onerror=alert(1)>\"'",
    "{{ merchant }}{{ 7 | times: 7 }}",
    "{% raw %}&lt;b&gt;",
    "</bdi></p>",
    "</title><script>",
  ];
  for (const text of evil) for (const locale of ["en", "ar"]) await owe({ name: text, locale }, text, text);
  await owe({});
  await sendAll({ delivered: 2 * evil.length + 1 });
  const elements = (html = "") => html.match(/<\/?[a-z!][^>]*>/gi)?.map((tag) => tag.split(" ")[0]);
  const plain = emails.find(({ subject }) => subject.includes("T-1"));
  for (const { subject, text = "", html = "" } of emails) {
    expect(elements(html)).toEqual(elements(plain?.html));
    expect(`${subject}${text}${html}`).not.toMatch(/49|onerror=alert\(1\)>"'[^<]*<\/bdi>/);
    expect(subject).not.toMatch(/[\r\n]/);
  }
  for (const text of evil)
    expect(emails.filter((email) => email.text?.includes(text) && email.subject.includes(text))).toHaveLength(
      2,
    );
});

test("a control character in a name, a merchant or a tracking number does not come into the ledger", async () => {
  for (const text of ["Ana\r\nBcc: eve@example.org", "Ana\n folded", "a\u0007", "a\u007f", "a\0b"]) {
    await expect(owe({ name: text })).rejects.toMatchObject({
      code: expect.stringMatching(/^(OW003|22021)$/),
    });
    await expect(owe({}, text)).rejects.toMatchObject({ code: expect.stringMatching(/^(OW003|22021)$/) });
    await expect(owe({}, "Shop", text)).rejects.toMatchObject({
      code: expect.stringMatching(/^(OW003|22021)$/),
    });
  }
  expect(await countStates(cloud)).toEqual({});
});

test("addresses in any script go out in ASCII, and what is no address dies alone, without a call, unquoted", async () => {
  const good = [
    "ana@bücher.example",
    "ana@مثال.إختبار",
    "ana@faß.example",
    "ana@EXAMPLE.com",
    "ana@例え.テスト",
  ];
  const bad = [
    ...[
      "ana@example.com,eve@example.org",
      "Ana <eve@example.org>",
      "eve@example.org\u2028",
      "änä@example.com",
      "eve@example.org;",
      "eve@localhost",
    ],
    ...[
      "eve@[127.0.0.1]",
      "=?utf-8?q?eve=40evil.example=3e?=@example.org",
      "eve@exa\u202emple.org",
      `${"e".repeat(65)}@example.org`,
      `eve@${"e".repeat(300)}.org`,
    ],
  ];
  for (const address of [...good, ...bad]) await owe({ address });
  await sendAll({ delivered: good.length, dead: bad.length });
  expect(emails.flatMap(({ to }) => to).toSorted()).toEqual(
    [
      "xn--bcher-kva.example",
      "xn--mgbh0fb.xn--kgbechtv",
      "xn--fa-hia.example",
      "example.com",
      "xn--r8jz45g.xn--zckzah",
    ]
      .map((host) => `"Ana" <ana@${host}>`)
      .toSorted(),
  );
  for (const row of (await readRows(cloud)).filter(({ state }) => state === "dead"))
    expect(row.reason).toMatch(/^InvalidAddress: address (has|is) [a-zA-Z@ ]+$/);
});

test("the longest that the ledger takes is an email of some kilobytes, and of one line each", async () => {
  const wide = "👩‍👩‍👧‍👦".repeat(18).slice(0, 200);
  await owe({ name: wide, locale: `de${"-abcdefgh".repeat(2_000)}` }, wide, wide.slice(0, 64));
  await sendAll({ delivered: 1 });
  const [email] = emails;
  expect([...(email?.subject ?? "")].length).toBeLessThanOrEqual(100);
  expect(Buffer.byteLength(JSON.stringify(email))).toBeLessThan(20_000);
  expect(email?.to[0]?.length).toBeLessThanOrEqual(320);
  await eventually(() => expect(cloud.ses.sent).toHaveLength(1));
});
