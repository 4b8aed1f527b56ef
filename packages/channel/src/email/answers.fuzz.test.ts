import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { anyText, tally } from "../../../../tests/hostile/arbitraries.ts";
import { LimitsUnavailable } from "../errors.ts";
import { emailChannel } from "./channel.ts";
import { aClient, aRequest } from "./fixtures.ts";
import { readEmailLimits } from "./limits.ts";
import { accept, reply, type SesDouble, startSesDouble } from "./ses-double.ts";

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

const send = (answer: SesDouble["answer"]) => {
  ses.answer = answer;
  const from = "notify@owed.example";
  return emailChannel({ client, from, configurationSet: null, timeoutMs: 5_000 }).send(aRequest(), {});
};

/** As XML writes what is no character of its own. */
const entities = (text: string) => text.replace(/[^ !#-;=?-~]/gu, (point) => `&#${point.codePointAt(0)};`);

const content = fc.oneof(
  anyText.map(entities),
  fc.constantFrom("&#0;", "&#xD800;", "&lol;", "<![CDATA[a]]>", "<a/>", "0102-abc"),
  fc.stringMatching(/^[a-z0-9-]{1,300}$/),
);

test("a message id that the ledger can't hold is no acceptance that it can know of", async () => {
  for (const messageId of ["m\0", "m&#0;1", "m 1", "m\n", "ü", "x".repeat(257), ""])
    expect(await send(accept(messageId)), messageId).toMatchObject({ outcome: "unknown" });
});

test("whatever stands in an answer, a send has an outcome that the ledger can hold", async () => {
  const seen = tally("accepted", "unknown");
  const frames = [
    (text: string) =>
      `<SendEmailResponse><SendEmailResult><MessageId>${text}</MessageId></SendEmailResult></SendEmailResponse>`,
    (text: string) => `<SendEmailResponse><SendEmailResult><MessageId>${text}`,
    (text: string) =>
      `<!DOCTYPE x [<!ENTITY lol "${"lol".repeat(50)}">]><SendEmailResponse>${text}</SendEmailResponse>`,
    (text: string) => `<__proto__><MessageId>${text}</MessageId></__proto__>`,
    (text: string) => text,
  ];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(frames[0], frames[0], ...frames), content, async (frame, text) => {
      const result = await send(reply(200, frame?.(text) ?? ""));
      if (result.outcome === "accepted") expect(result.providerMessageId).toMatch(/^[!-~]{1,256}$/);
      else
        expect(result).toMatchObject({
          outcome: "unknown",
          reason: expect.stringMatching(/^\w+: [ -~]{5,80}$/),
        });
      seen.count(result.outcome === "accepted" ? "accepted" : "unknown");
    }),
    { numRuns: 100 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(5);
});

test("whatever stands in them, limits are numbers to count with, or not known", async () => {
  const seen = tally("limits", "unavailable");
  const number = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom("14.0", "200", "1e308") },
    {
      weight: 1,
      arbitrary: fc.constantFrom("-1", "0", "1e309", "NaN", "Infinity", "0x10", "1,5", "５", "-0", "5e-324"),
    },
    { weight: 1, arbitrary: content },
  );
  await fc.assert(
    fc.asyncProperty(number, number, number, async (quota, rate, used) => {
      const fields = `<Max24HourSend>${quota}</Max24HourSend><MaxSendRate>${rate}</MaxSendRate><SentLast24Hours>${used}</SentLast24Hours>`;
      ses.answer = reply(
        200,
        `<GetSendQuotaResponse><GetSendQuotaResult>${fields}</GetSendQuotaResult></GetSendQuotaResponse>`,
      );
      try {
        const limits = await readEmailLimits(client);
        seen.count("limits");
        expect(limits.rate).toBeGreaterThan(0);
        expect(limits.used).toBeGreaterThanOrEqual(0);
        for (const value of [limits.rate, limits.quota ?? 0, limits.used])
          expect(Number.isFinite(value)).toBe(true);
      } catch (error) {
        if (!(error instanceof LimitsUnavailable)) throw error;
        seen.count("unavailable");
        expect(error.message).toMatch(/^[^\p{Cc}]{50,500}$/u);
      }
    }),
    { numRuns: 100 },
  );
  expect(seen.rarest(), JSON.stringify(seen.reached)).toBeGreaterThan(2);
});
