import { expect, test } from "vitest";
import { adviceFor } from "./advice.ts";

const dead = (reason: string, moot: string | null = null) => adviceFor({ state: "dead", reason, moot });

test.each([
  ["no_address", "correct the subscriber's address"],
  ["InvalidAddress: address has a space", "correct the subscriber's address"],
  ["lost: queued four times, and no worker ever received it", "who purges its queue"],
  ["no_channel: this worker has no channel sms", "deploy a worker"],
  ["Uncomposable: TypeError", "correct and deploy"],
  ["MessageRejected: email address is not verified (recipient)", "leave the sandbox"],
  ["MessageRejected: Address blacklisted.", "the provider's own suppression list"],
  ["Throttling: Maximum sending rate exceeded.", "see 'owed status'"],
  ["ECONNREFUSED: the request was not written", "could not be reached"],
  ["ServiceUnavailable: Try later.", "could not be reached"],
  ["Surprise: nobody knows it", "mend what the reason names"],
])("%s", (reason, advice) => {
  expect(dead(reason)).toContain(advice);
});

test("what is no longer true needs no redrive, whatever killed it", () => {
  expect(dead("ServiceUnavailable: Try later.", "suppressed")).toContain("owed lift");
  expect(dead("ServiceUnavailable: Try later.", "superseded")).toMatch(/cancel it$/);
  expect(adviceFor({ state: "unknown", reason: "held", moot: "expired" })).toContain("owed resolve");
});
