import { SESClient, type SESClientConfig } from "@aws-sdk/client-ses";
import { requestHandler, type Waits } from "../http/request-handler.ts";

export type SesClientOptions = Omit<SESClientConfig, "maxAttempts" | "requestHandler"> & Waits;

/**
 * An SES client that is safe for sends: the SDK never repeats a request by itself (a socket that dies after
 * SES accepted would make one call three emails), and every wait has an end.
 */
export function createSesClient(options: SesClientOptions = {}): SESClient {
  return new SESClient({
    cacheMiddleware: true,
    ...options,
    maxAttempts: 1,
    requestHandler: requestHandler(options),
  });
}
