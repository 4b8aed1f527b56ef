import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { anyText, anyValue } from "../../../../tests/hostile/arbitraries.ts";
import type { Channel, SendRequest, SendResult } from "../channel.ts";
import { type Answer, type Provider, type Received, startProvider } from "./provider.ts";

/** What the contract has to know of a channel. Its provider is an HTTP server of the contract's own. */
export type ContractSetup = {
  /** For a provider that is called by HTTPS: a certificate for localhost, and its key, in PEM. */
  tls?: { cert: string; key: string };
  /** The channel, and a lifelike request, for a provider at `origin`. */
  open(origin: string, options: { timeoutMs: number }): { channel: Channel; request: SendRequest };
  /** Ends what `open` left behind. */
  close?(): void | Promise<void>;
  /** An address that the channel can send nothing to. */
  badAddress: string;
  /** The notification's id, as a request told it the provider. */
  notificationId(received: Received): string | null | undefined;
  /** The provider's answers. */
  accept: Answer;
  /** Takes nothing for `seconds`. */
  throttle(seconds: number): Answer;
  /** Refuses this message for good, and says `why`, which may quote it. */
  refuse(why: string): Answer;
};

/** Registers what every channel must do, whatever it sends by. */
export function channelContract(name: string, setup: ContractSetup): void {
  describe(`the contract of a channel: ${name}`, () => {
    let provider: Provider;
    let opened: ReturnType<ContractSetup["open"]>;
    beforeAll(async () => {
      provider = await startProvider(setup.accept, setup.tls);
      opened = setup.open(provider.origin, { timeoutMs: 5_000 });
    });
    afterEach(() => {
      provider.answer = setup.accept;
      provider.received.length = 0;
    });
    afterAll(async () => {
      await setup.close?.();
      await provider.stop();
    });

    /** Sends one request, and checks what holds for every result. */
    async function send(change: object = {}, { channel, request } = opened): Promise<SendResult> {
      const changed: SendRequest = { ...request, ...change };
      const result = await channel.send(changed, {});
      expectResult(result, changed);
      return result;
    }

    test("it is called by its name", () => {
      expect(opened.channel.name).toBe(name);
    });

    test("accepted: the provider and its message id; it was asked once, with the notification's id", async () => {
      expect(await send()).toMatchObject({
        outcome: "accepted",
        provider: expect.stringMatching(/^[\w-]+$/),
      });
      expect(provider.received.map(setup.notificationId)).toEqual([opened.request.notificationId]);
    });

    test("an address that is none is refused, and nobody is asked", async () => {
      for (const address of [setup.badAddress, ""])
        expect(await send({ address })).toMatchObject({ outcome: "refused", answered: false });
      expect(provider.received).toEqual([]);
    });

    test("a connection that is refused: certainly not sent", async () => {
      const gone = await startProvider(setup.accept, setup.tls);
      await gone.stop();
      expect(await send({}, setup.open(gone.origin, { timeoutMs: 5_000 }))).toSatisfy(certainlyUnsent);
    });

    test("aborted before it began: certainly not sent, and nobody is asked", async () => {
      const result = await opened.channel.send(opened.request, { signal: AbortSignal.abort() });
      expectResult(result, opened.request);
      expect(result).toSatisfy(certainlyUnsent);
      expect(provider.received).toEqual([]);
    });

    test("an answer that is lost after the request was written: nobody knows, and it is asked once", async () => {
      provider.answer = (response) => response.destroy();
      expect(await send()).toMatchObject({ outcome: "unknown" });
      expect(provider.received).toHaveLength(1);
    });

    test("no answer: nobody knows, as soon as the channel's time is over", async () => {
      const impatient = setup.open(provider.origin, { timeoutMs: 500 });
      // The second time nothing has to be loaded first, and its time is for the provider.
      await send({}, impatient);
      provider.answer = () => {};
      const began = performance.now();
      expect(await send({}, impatient)).toMatchObject({ outcome: "unknown" });
      const took = performance.now() - began;
      expect(took).toBeGreaterThan(490);
      expect(took).toBeLessThan(4_000);
      expect(provider.received).toHaveLength(2);
    });

    test("throttled: for as long as the provider says", async () => {
      provider.answer = setup.throttle(17);
      expect(await send()).toMatchObject({ outcome: "throttled", retryAfterSeconds: 17 });
    });

    test("refused for good: with no word of the person whom the provider quotes", async () => {
      const { request } = setup.open(provider.origin, { timeoutMs: 1_000 });
      provider.answer = setup.refuse(
        `Invalid: "${request.name}" <${request.address}>\r\nof ${request.address}.`,
      );
      expect(await send()).toMatchObject({ outcome: "refused", answered: true });
    });

    test("whatever stands in a row, a send ends with a result", async () => {
      await fc.assert(
        fc.asyncProperty(hostileChange, async (change) => {
          await send(applied(opened.request, change));
        }),
        { numRuns: 150 },
      );
    });
  });
}

/** Not sent, for sure: it may be tried again, or when this receiver is there again. */
const certainlyUnsent = (result: SendResult): boolean =>
  result.outcome === "transient" || (result.outcome === "throttled" && result.scope === "recipient");

/** What the ledger can hold, and may be logged: a reason is one short line, begins with a code word and is about nobody. */
function expectResult(result: SendResult, { address, name }: SendRequest): void {
  if (result.outcome === "accepted") {
    expect(result.provider).toMatch(/^[\w-]{1,64}$/);
    expect(result.providerMessageId).toMatch(/^[!-~]{1,256}$/);
    return;
  }
  expect(result.reason).toMatch(/^[A-Za-z][\w.-]*: \S/);
  expect([...result.reason].length).toBeLessThanOrEqual(200);
  expect(result.reason).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202A-\u202E\u2066-\u2069]/u);
  // Shorter ones stand in any sentence.
  for (const personal of [address, name])
    if (typeof personal === "string" && personal.length > 5) expect(result.reason).not.toContain(personal);
  if (result.outcome !== "throttled" || result.retryAfterSeconds === null) return;
  expect(Number.isSafeInteger(result.retryAfterSeconds)).toBe(true);
  expect(result.retryAfterSeconds).toBeGreaterThanOrEqual(0);
}

/** One or two fields of a row, with a text or a value that nobody expects. */
const fields = [
  "notificationId",
  "template",
  "address",
  "name",
  "locale",
  "timeZone",
  "role",
  "shipment",
  "shipment.id",
  "shipment.trackingNumber",
  "shipment.status",
  "shipment.occurredAt",
  "merchant",
  "merchant.id",
  "merchant.name",
  "merchant.trackingUrl",
] as const;
type Change = { field: (typeof fields)[number]; value: unknown };
const hostileChange: fc.Arbitrary<Change[]> = fc.array(
  fc.record({
    field: fc.constantFrom(...fields),
    value: fc.oneof({ weight: 2, arbitrary: anyText }, { weight: 1, arbitrary: anyValue }),
  }),
  { minLength: 1, maxLength: 2 },
);

function applied(request: SendRequest, changes: readonly Change[]): object {
  let row: Record<string, unknown> = { ...request };
  for (const { field, value } of changes) {
    const [key = "", inner] = field.split(".");
    const outer = row[key];
    row = { ...row, [key]: inner && typeof outer === "object" ? { ...outer, [inner]: value } : value };
  }
  return row;
}
