import {
  PinpointSMSVoiceV2Client,
  type PinpointSMSVoiceV2ClientConfig,
} from "@aws-sdk/client-pinpoint-sms-voice-v2";
import { requestHandler, type Waits } from "../http/request-handler.ts";

export type SmsClientOptions = Omit<PinpointSMSVoiceV2ClientConfig, "maxAttempts" | "requestHandler"> & Waits;

/**
 * A client of AWS End User Messaging that is safe for sends: the SDK never repeats a request by itself (one call
 * would be three texts), and every wait has an end.
 */
export function createSmsClient(options: SmsClientOptions = {}): PinpointSMSVoiceV2Client {
  return new PinpointSMSVoiceV2Client({
    ...options,
    maxAttempts: 1,
    requestHandler: requestHandler(options),
  });
}
