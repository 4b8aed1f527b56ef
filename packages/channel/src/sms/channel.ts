import {
  type PinpointSMSVoiceV2Client,
  SendTextMessageCommand,
  type SendTextMessageCommandInput,
} from "@aws-sdk/client-pinpoint-sms-voice-v2";
import type { Channel, SendRequest } from "../channel.ts";
import { ConfigurationError, RefusedError } from "../errors.ts";
import { call } from "../http/call.ts";
import { refused } from "../refused.ts";
import { renderSms } from "../templates/index.ts";
import { line } from "../text.ts";
import { classify } from "./classify.ts";
import { parseNumber } from "./number.ts";
import { checkText } from "./segments.ts";

export type SmsOptions = {
  client: PinpointSMSVoiceV2Client;
  /** A phone number, sender id or pool of ours: its name, id or ARN. */
  originationIdentity: string;
  /** Its event destinations get the provider's evidence too; null in an account without one. */
  configurationSet: string | null;
  /** Milliseconds for the whole of one send, credentials and answer included. */
  timeoutMs: number;
  /** Seconds (5 to 259,200) for which AWS tries to hand the text to a carrier. Default: 6 hours, for news of a parcel. */
  timeToLive?: number;
};

/**
 * Text messages through AWS End User Messaging, `SendTextMessage`: one call for one notification.
 * @throws ConfigurationError if an option is unusable.
 */
export function smsChannel(options: SmsOptions): Channel {
  const { client, timeoutMs } = options;
  const ours = fixedPart(options);
  return {
    name: "sms",
    async send(request, { signal }) {
      let text: Text;
      try {
        text = compose(request, options.configurationSet);
      } catch (error) {
        return refused(error);
      }
      const command = new SendTextMessageCommand({ ...ours, ...text.input });
      return call({
        command,
        send: (abortSignal) => client.send(command, { abortSignal }),
        timeoutMs,
        signal,
        provider: "sms-voice",
        classify: (error, flight) => classify(error, { flight, name: text.name }),
      });
    },
  };
}

/** What is the same in each request. */
function fixedPart(options: SmsOptions): Omit<SendTextMessageCommandInput, keyof Text["input"]> {
  const { originationIdentity, configurationSet, timeoutMs, timeToLive = 6 * 60 * 60 } = options;
  const check = (right: boolean, wrong: string) => {
    if (!right) throw new ConfigurationError(wrong);
  };
  check(
    /^[A-Za-z0-9_:/+-]{1,256}$/.test(originationIdentity),
    `The origination identity "${line(originationIdentity, 80)}" is none: use a phone number, sender id or pool, or its ARN`,
  );
  check(
    configurationSet === null || /^[A-Za-z0-9_:/-]{1,256}$/.test(configurationSet),
    `The configuration set "${line(configurationSet ?? "", 80)}" has no valid name: use A-Z a-z 0-9 _ -, or its ARN`,
  );
  check(
    Number.isSafeInteger(timeoutMs) && timeoutMs > 0,
    `The sms channel's timeout must be whole milliseconds above 0, not ${timeoutMs}`,
  );
  check(
    Number.isSafeInteger(timeToLive) && timeToLive >= 5 && timeToLive <= 259_200,
    `The sms channel's time to live must be 5 to 259,200 whole seconds, not ${timeToLive}`,
  );
  return {
    OriginationIdentity: originationIdentity,
    MessageType: "TRANSACTIONAL",
    TimeToLive: timeToLive,
    ...(configurationSet === null ? {} : { ConfigurationSetName: configurationSet }),
  };
}

type Text = {
  /** The recipient's, cleaned; empty where there is none. */
  name: string;
  input: { DestinationPhoneNumber: string; MessageBody: string; Context: Record<string, string> };
};

/** @throws RefusedError: `NoAddress`, `InvalidAddress`, `InvalidNotification`, `NoText`, `TooLong`, and the template's */
function compose(request: SendRequest, configurationSet: string | null): Text {
  const number = parseNumber(request.address);
  if (!/^[\w-]{1,256}$/.test(request.notificationId)) {
    throw new RefusedError("InvalidNotification", "notificationId cannot be a context's value");
  }
  const body = renderSms(request);
  checkText(body);
  return {
    name: line(request.name ?? "", 60),
    input: {
      DestinationPhoneNumber: number,
      MessageBody: body,
      // AWS's events carry it back, and nothing else that says whose text it was.
      Context: {
        notification: request.notificationId,
        ...(configurationSet === null ? {} : { "configuration-set": configurationSet }),
      },
    },
  };
}
