import { vi } from "vitest";

/** Lets the functions' own SQS client find a test's queues, by the SDK's standard variables. */
export function pointSdkAt({ endpoint, region }: { endpoint: string; region: string }): void {
  vi.stubEnv("AWS_ENDPOINT_URL_SQS", endpoint);
  vi.stubEnv("AWS_REGION", region);
  vi.stubEnv("AWS_ACCESS_KEY_ID", "test");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "test");
}
