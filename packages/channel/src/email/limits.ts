import {
  GetSendQuotaCommand,
  type GetSendQuotaCommandOutput,
  type SESClient,
  SESServiceException,
} from "@aws-sdk/client-ses";
import type { Limits } from "../channel.ts";
import { LimitsUnavailable } from "../errors.ts";
import { bounded, StoppedError } from "../http/bounded.ts";
import { line } from "../text.ts";

/** Milliseconds for the whole call: nobody's message waits longer for a number that only sets a pace. */
const timeoutMs = 3_000;

/**
 * What SES lets this account send in this region (SES v1 `GetSendQuota`). One request; SES allows one a second.
 * @throws LimitsUnavailable if no usable answer comes within 3 seconds or before `signal` aborts.
 */
export async function readEmailLimits(
  client: SESClient,
  { signal }: { signal?: AbortSignal } = {},
): Promise<Limits> {
  let answer: GetSendQuotaCommandOutput;
  try {
    answer = await bounded(timeoutMs, signal, (stop) =>
      client.send(new GetSendQuotaCommand({}), { abortSignal: stop }),
    );
  } catch (error) {
    throw new LimitsUnavailable(detailOf(error), { cause: error });
  }
  const { Max24HourSend: quota, MaxSendRate: rate, SentLast24Hours: used } = answer;
  if (!isNumber(rate) || rate <= 0) throw unusable("MaxSendRate", rate);
  // "A value of -1 signifies an unlimited quota" (SES API reference); no other negative number means anything.
  if (!isNumber(quota) || (quota < 0 && quota !== -1)) throw unusable("Max24HourSend", quota);
  if (!isNumber(used) || used < 0) throw unusable("SentLast24Hours", used);
  return { rate, quota: quota === -1 ? null : quota, used };
}

const isNumber = (value: number | undefined): value is number => Number.isFinite(value);

const unusable = (field: string, value: number | undefined) =>
  new LimitsUnavailable(`UnusableAnswer: ${field} is ${value ?? "missing"}`);

function detailOf(error: unknown): string {
  if (error instanceof StoppedError) {
    return error.code === "TimedOut" ? `TimedOut: no answer in ${timeoutMs / 1000} s` : "Aborted";
  }
  if (!(error instanceof Error)) return "Failed";
  // The SDK's name for an answer without SES's error document, a proxy's page for one.
  if (error instanceof SESServiceException && error.name === "Unknown") {
    return `UnusableAnswer: status ${error.$metadata.httpStatusCode}`;
  }
  const code = "code" in error && typeof error.code === "string" ? error.code : error.name;
  return line(`${code}: ${error.message}`, 200);
}
