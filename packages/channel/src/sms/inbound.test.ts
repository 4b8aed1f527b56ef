import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyText, anyValue, cost, longTexts, mutated } from "../../../../tests/hostile/arbitraries.ts";
import { keywordOf } from "../../../local/src/sms/inbound.ts";
import { parseInboundSms } from "./inbound.ts";
import { optOutWord } from "./opt-out.ts";

describe("words that stop our texts, or start them", () => {
  test.for<[text: string, word: "stop" | "start" | null]>([
    ["STOP", "stop"],
    ["stop", "stop"],
    [" Stop. \n", "stop"],
    ["“STOP”", "stop"],
    ["ＳＴＯＰ", "stop"],
    ["S\u200bTOP", "stop"],
    ["STOP ALL", "stop"],
    ["StopAll", "stop"],
    ["stop please, it is not my parcel", "stop"],
    ["Unsubscribe me", "stop"],
    ["opt-out", "stop"],
    ["OPT OUT", "stop"],
    ["end", "stop"],
    ["Cancel!", "stop"],
    ["arrêt", "stop"],
    ["ARRÊTEZ", "stop"],
    ["Désabonner", "stop"],
    ["Stopp", "stop"],
    ["abmelden bitte", "stop"],
    ["توقف", "stop"],
    ["إيقاف", "stop"],
    ["إلغاء الاشتراك", "stop"],
    ["إِيـقاف", "stop"],
    ["START", "start"],
    ["unstop", "start"],
    ["Yes", "start"],
    ["ابدأ", "start"],
    ["oui", "start"],
    ["", null],
    ["HELP", null],
    ["Yes, I am at home", null],
    ["End of the street, second door", null],
    ["Cancel the delivery on Monday", null],
    ["please don't stop", null],
    ["Where is my parcel?", null],
    ["stopping", null],
    ["__proto__", null],
    ["constructor", null],
  ])("%j: %s", ([text, word]) => {
    expect(optOutWord(text)).toBe(word);
  });

  test("every keyword that AWS takes for an opt-out is one to us", () => {
    for (const word of "ARRET CANCEL END OPT-OUT OPTOUT QUIT REMOVE STOP TD UNSUBSCRIBE".split(" ")) {
      expect(keywordOf(word)).toBe(word);
      expect(optOutWord(word), word).toBe("stop");
    }
  });

  test("case, accents and full stops around a word change nothing, and no text is too strange", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect([null, "stop", "start"]).toContain(optOutWord(text));
      }),
      { numRuns: 300 },
    );
    for (const text of longTexts()) expect(cost(() => optOutWord(text))).toBeLessThan(100);
  });
});

const inbound = (change: object = {}) => ({
  originationNumber: "+436641234567",
  destinationNumber: "+436700000000",
  messageKeyword: "STOP",
  messageBody: "Stop",
  inboundMessageId: "cae173d2-66b9-564c-8309-21f858e9fb84",
  previousPublishedMessageId: "wJalrXUtnFEMI",
  ...change,
});

test("a person who stops our texts, as SNS delivers it raw and in its envelope", () => {
  const expected = { from: "+436641234567", word: "stop" };
  expect(parseInboundSms(inbound())).toEqual(expected);
  const envelope = { Type: "Notification", MessageId: "m-1", Message: JSON.stringify(inbound()) };
  expect(parseInboundSms(envelope)).toEqual(expected);
  expect(parseInboundSms(inbound({ messageBody: "START" }))).toMatchObject({ word: "start" });
});

test.for<[body: unknown, ignored: string]>([
  [null, "it is no object"],
  ["STOP", "it is no object"],
  [{ Type: "Notification", Message: "STOP" }, "it is no object"],
  [{ Type: "SubscriptionConfirmation" }, "it is no text message"],
  [{ eventType: "TEXT_DELIVERED" }, "it is no text message"],
  [inbound({ messageBody: "Where is my parcel?" }), "it neither stops nor starts our texts"],
  [inbound({ messageBody: 7 }), "it neither stops nor starts our texts"],
  [inbound({ originationNumber: "12345" }), "its originationNumber is not that of a person"],
  [inbound({ originationNumber: null }), "its originationNumber is not that of a person"],
])("%j is ignored: %s", ([body, ignored]) => {
  expect(parseInboundSms(body)).toEqual({ ignored });
});

test("whatever comes, it is a number and a word, or ignored without a word of it", () => {
  fc.assert(
    fc.property(fc.oneof(anyValue, mutated(fc.constant(inbound()))), (body) => {
      const parsed = parseInboundSms(body);
      if ("from" in parsed) expect(parsed.from).toMatch(/^\+[1-9]\d{4,14}$/);
      else expect(parsed.ignored).toMatch(/^its? [a-zA-Z ]{5,60}$/);
    }),
    { numRuns: 500 },
  );
});
