import { expect, test } from "vitest";
import { check } from "../preview/check.ts";
import { loaded } from "../preview/load.ts";
import { runCli } from "../testing.ts";

// Whoever opens the services fails: the command works without any.
const nowhere = async () => {
  throw new Error("services were opened");
};
const owed = (...argv: string[]) => runCli(["preview", ...argv], nowhere);
const json = async (...argv: string[]) => JSON.parse((await owed(...argv, "--json")).out);

test("without options: the templates there are, by channel and language", async () => {
  const { code, out } = await owed();
  expect(code).toBe(0);
  expect(out).toMatch(/^template +channel +ar +de +en +fr\n/);
  expect(out).toMatch(/^customs_hold\.still +sms +yes +yes +yes +yes$/m);
  const { templates } = await json();
  expect(templates).toHaveLength(24);
  expect(templates[0]).toEqual({
    template: "picked_up",
    channel: "email",
    missing: { ar: [], de: [], en: [], fr: [] },
  });
});

test("a status is shown with its follow-up, on each channel", async () => {
  const { out } = await owed("--status", "customs_hold", "--locale", "de-AT");
  expect(out.match(/^— .* —$/gm)).toEqual(
    ["customs_hold", "customs_hold.still"].flatMap((template) =>
      ["email", "sms", "webhook"].map((channel) => `— ${template}, ${channel}, de-AT, buyer —`),
    ),
  );
  expect(out).toContain("\nPaket RR123456785AT liegt noch immer beim Zoll\n\nGuten Tag Ana Lind,\n");
});

test("the given values are in it", async () => {
  const { previews } = await json(
    ...[
      "--template",
      "delivered",
      "--channel",
      "email",
      "--role",
      "buyer",
      "--name",
      "Bo",
      "--merchant",
      "Shop",
    ],
    ...["--parcel", "X 1", "--tracking-url", "https://t.example/{tracking_number}"],
    ...["--time-zone", "Asia/Tokyo", "--at", "2026-03-29T23:30:00Z"],
  );
  expect(previews).toHaveLength(1);
  const [{ subject, text }] = previews;
  expect(subject).toBe("Parcel X 1 has been delivered");
  for (const part of [
    "Hello Bo,",
    "Sender: Shop",
    "March 30, 2026 at 08:30 AM GMT+9",
    "https://t.example/X%201",
  ])
    expect(text).toContain(part);
});

test("of a text message its cost is shown", async () => {
  const german = await owed("--template", "delivered", "--channel", "sms", "--locale", "de");
  expect(german.out).toMatch(/ wurde zugestellt\..*\n\(1 segment, GSM-7, \d+ characters\)\n$/);
  const { previews } = await json("--template", "delivered", "--channel", "sms", "--locale", "ar");
  expect(previews).toMatchObject([{ channel: "sms", encoding: "UCS-2", segments: 2 }]);
});

test("the page of one email alone, for a browser", async () => {
  const { code, out } = await owed("--template", "delivered", "--html", "--locale", "ar");
  expect([code, out.split("\n").slice(0, 2)]).toEqual([0, ["<!doctype html>", '<html lang="ar" dir="rtl">']]);
  expect(out).toMatch(/<\/html>\n$/);
});

test("the check finds nothing, and says so", async () => {
  expect(await owed("--check")).toEqual({ code: 0, out: "0 errors, 0 warnings.\n", err: "" });
  expect(await json("--check")).toEqual({ errors: 0, warnings: 0, findings: [] });
});

test("an error fails the check, a warning does not", () => {
  const warning = {
    severity: "warning",
    locale: "de",
    where: "sms",
    rule: "missing",
    message: "is missing",
  } as const;
  const error = { ...warning, severity: "error", where: "email.footer", message: "is not here" } as const;
  expect(check([warning])).toMatchObject({ exitCode: 0, json: { errors: 0, warnings: 1 } });
  const { exitCode, lines } = check([warning, error]);
  expect(exitCode).toBe(1);
  expect(lines).toContainEqual(expect.stringMatching(/^error +de +email\.footer +missing +is not here$/));
  expect(lines.at(-1)).toBe("1 error, 1 warning.");
});

test.for([
  [["--template", "deliverd"], 'there is no template "deliverd": it is one of picked_up, '],
  [["--status", "customs_hold.still"], 'there is no status "customs_hold.still"'],
  [["--channel", "fax"], 'there is no channel "fax": it is one of email, sms, webhook'],
  [["--template", "delivered", "--status", "returned"], "delivered is not of the status returned"],
  [["--role", "king"], "Allowed choices are buyer, merchant, agent, warehouse"],
  [["--at", "yesterday"], "RFC 3339"],
  [["--template", "delivered", "--time-zone", "Mars/X"], "a time zone of the IANA database"],
  [["--html"], "--html shows the email of one --template"],
  [["--html", "--template", "delivered", "--channel", "sms"], "--html shows the email of one --template"],
] as const)("%j is wrong usage", async ([argv, message]) => {
  const { code, err } = await owed(...argv);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
});

test("a language without a file is shown in English, and says so", async () => {
  const of = ["--template", "delivered", "--channel", "sms", "--locale"];
  const { code, out } = await owed(...of, "it-CH");
  expect([code, out.split("\n").slice(0, 3)]).toEqual([
    0,
    [
      "There is no language file for it-CH: English is shown, and sent. There are ar, de, en, fr.",
      "",
      "— delivered, sms, it-CH, buyer —",
    ],
  ]);
  expect((await json(...of, "it")).note).toContain("no language file for it:");
  for (const known of ["de-AT", "de_AT", "en"]) expect((await json(...of, known)).note).toBeNull();
});

test("a language file that is no JSON is named, without a stack", async () => {
  const message = "/locales/de.json: Expected ',' or '}' after property value in JSON (line 3 column 5)";
  const failure = await loaded(Promise.reject(new SyntaxError(message))).catch((error: unknown) => error);
  expect(failure).toMatchObject({ kind: "failed", message: `a language file can't be read: ${message}` });
  // The stack that is printed is the cause's.
  expect(failure).not.toHaveProperty("cause");
  await expect(loaded(Promise.reject(new TypeError("x")))).rejects.toBeInstanceOf(TypeError);
});
