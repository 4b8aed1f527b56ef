import fc from "fast-check";
import libmime from "libmime";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { SendRequest } from "../channel.ts";
import { ConfigurationError } from "../errors.ts";
import { emailChannel } from "./channel.ts";
import { aClient, aRequest } from "./fixtures.ts";
import { type SesDouble, startSesDouble } from "./ses-double.ts";

let ses: SesDouble;
let client: ReturnType<typeof aClient>;

beforeAll(async () => {
  ses = await startSesDouble();
  client = aClient(ses.endpoint);
});
afterAll(async () => {
  client.destroy();
  await ses.stop();
});
beforeEach(() => {
  ses.received.length = 0;
});

const options = () => ({
  client,
  from: "Owed <notify@owed.example>",
  configurationSet: "owed",
  timeoutMs: 5_000,
});
const send = (request: SendRequest) => emailChannel(options()).send(request, {});

test("the request carries one recipient, both bodies, the row's id as a tag and the configuration set", async () => {
  expect(await send(aRequest({ name: "Zoë Lind", locale: "de-AT" }))).toMatchObject({ outcome: "accepted" });
  expect(Object.fromEntries(ses.received[0] ?? [])).toEqual({
    Action: "SendEmail",
    Version: "2010-12-01",
    Source: '"Owed" <notify@owed.example>',
    "Destination.ToAddresses.member.1": "=?UTF-8?B?Wm/DqyBMaW5k?= <ana.lind@example.org>",
    "Message.Subject.Data": "Paket RR123456785AT liegt beim Zoll",
    "Message.Subject.Charset": "UTF-8",
    "Message.Body.Text.Data": expect.stringContaining("Guten Tag Zoë Lind,"),
    "Message.Body.Text.Charset": "UTF-8",
    "Message.Body.Html.Data": expect.stringContaining('<html lang="de" dir="ltr">'),
    "Message.Body.Html.Charset": "UTF-8",
    "Tags.member.1.Name": "notification",
    "Tags.member.1.Value": "0198b1c2-7d3e-7a41-9c55-3f2a1b0c9d8e",
    ConfigurationSetName: "owed",
  });
});

test("without a configuration set, none is named", async () => {
  await emailChannel({ ...options(), configurationSet: null }).send(aRequest(), {});
  expect(ses.received[0]?.has("ConfigurationSetName")).toBe(false);
});

const shipment = aRequest().shipment;

test.for<[Partial<Record<keyof SendRequest, unknown>>, string]>([
  [{ address: "" }, "NoAddress: no address"],
  [{ address: null }, "NoAddress: no address"],
  [
    { address: "ana@example.org\r\nBcc: evil@example.org" },
    "InvalidAddress: address has a control character",
  ],
  [{ template: "lost_in_space" }, 'NoTemplate: no template "lost_in_space"'],
  [{ template: "__proto__" }, 'NoTemplate: no template "__proto__"'],
  [{ template: "a\r\nb" }, 'NoTemplate: no template "a b"'],
  [{ notificationId: "" }, "InvalidNotification: notificationId cannot be a message tag"],
  [{ notificationId: "0198 b1c2" }, "InvalidNotification: notificationId cannot be a message tag"],
  [{ notificationId: "a\n" }, "InvalidNotification: notificationId cannot be a message tag"],
  [{ notificationId: "x".repeat(257) }, "InvalidNotification: notificationId cannot be a message tag"],
  [{ shipment: { ...shipment, occurredAt: new Date("never") } }, "InvalidShipment: occurredAt is no date"],
  [{ shipment: null }, "Uncomposable: TypeError"],
  [{ merchant: { id: "m", name: 7 } }, "Uncomposable: TypeError"],
])("a row with %o is refused: %s", async ([change, reason]) => {
  expect(await send({ ...aRequest(), ...change } as SendRequest)).toEqual({
    outcome: "refused",
    reason,
    answered: false,
  });
  expect(ses.received, "SES is not asked").toHaveLength(0);
});

test.for([
  [{ from: "nobody" }, /sender "nobody" is unusable/],
  [{ configurationSet: "a b" }, /configuration set "a b"/],
  [{ configurationSet: "" }, /configuration set ""/],
  [{ timeoutMs: 0 }, /timeout must be whole milliseconds above 0, not 0/],
] as const)("a channel with %o is not made", ([change, message]) => {
  const make = () => emailChannel({ ...options(), ...change });
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow(message);
});

/** Strings made to break out: of a header, of an encoded word, of HTML, of a template. */
const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 100 }),
  fc.string({
    unit: fc.constantFrom(
      "\r\n",
      "\n",
      "\0",
      "Bcc: x@y.example",
      "<script>",
      "</title>",
      '"',
      "'",
      "&",
      "{{ x }}",
      "{% raw %}",
      "=?utf-8?q?=0d=0a?=",
      "\ud800",
      "\udc00",
      "\u202e",
      "\u2066",
      "👩‍👧",
      "é",
      "山",
      " ",
      "@",
      ",",
      ";",
      ">",
      "<",
    ),
    maxLength: 60,
  }),
);

const lineBreaking = /[\p{Cc}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;
const tags = (html: string) => html.match(/<[^>]*>/g);

test("whatever the name, tracking number and merchant: no header can be injected, and HTML stays as it is", async () => {
  // With a greeting by name, and without: what looks like a link is no name.
  await send(aRequest({ name: "x" }));
  await send(aRequest({ name: null }));
  const harmless = ses.received.map((email) => tags(email.get("Message.Body.Html.Data") ?? ""));
  const parameters = [...(ses.received[0]?.keys() ?? [])];
  const channel = emailChannel(options());
  await fc.assert(
    fc.asyncProperty(hostile, hostile, hostile, async (name, trackingNumber, merchant) => {
      const request = aRequest({
        name: `x${name}`,
        shipment: { ...shipment, trackingNumber },
        merchant: { id: "m", name: merchant, trackingUrl: null },
      });
      expect(await channel.send(request, {})).toMatchObject({ outcome: "accepted" });
      const sent = ses.received.at(-1) ?? new URLSearchParams();
      expect([...sent.keys()]).toEqual(parameters);

      const to = sent.get("Destination.ToAddresses.member.1") ?? "";
      expect(to).toMatch(/^[\x20-\x7e]+ <ana\.lind@example\.org>$/);
      expect(to.match(/[<>]/g)).toEqual(["<", ">"]);
      expect(libmime.decodeWords(to)).not.toMatch(lineBreaking);

      const subject = sent.get("Message.Subject.Data") ?? "";
      expect(subject).not.toMatch(lineBreaking);
      expect([...subject].length).toBeLessThanOrEqual(100);

      const text = sent.get("Message.Body.Text.Data") ?? "";
      expect(text.split("\n"), "no line is added").toHaveLength(10);
      expect(text.replaceAll("\n", "")).not.toMatch(lineBreaking);

      const html = sent.get("Message.Body.Html.Data") ?? "";
      expect(harmless).toContainEqual(tags(html));
      expect(html.replaceAll("\n", "")).not.toMatch(lineBreaking);
    }),
    { numRuns: 200 },
  );
});
