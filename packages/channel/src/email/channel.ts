import { type SESClient, SendEmailCommand, type SendEmailCommandInput } from "@aws-sdk/client-ses";
import type { Channel, SendRequest } from "../channel.ts";
import { ConfigurationError, RefusedError } from "../errors.ts";
import { call } from "../http/call.ts";
import { refused } from "../refused.ts";
import { renderEmail } from "../templates/index.ts";
import { cleanName, mailbox, parseAddress } from "./address.ts";
import { classify } from "./classify.ts";
import { parseSender } from "./sender.ts";

export type EmailOptions = {
  client: SESClient;
  /** Our own sender: `address` or `Name <address>`. */
  from: string;
  /** Its event destination brings the provider's evidence; null in an account without one. */
  configurationSet: string | null;
  /** Milliseconds for the whole of one send, credentials and answer included. */
  timeoutMs: number;
};

/**
 * Email through SES v1 `SendEmail`: one call for one notification.
 * @throws ConfigurationError if `from`, `configurationSet` or `timeoutMs` is unusable.
 */
export function emailChannel({ client, from, configurationSet, timeoutMs }: EmailOptions): Channel {
  const sender = parseSender(from);
  if (configurationSet !== null && !/^[\w-]{1,64}$/.test(configurationSet)) {
    throw new ConfigurationError(
      `The configuration set "${configurationSet}" has no valid name: use A-Z a-z 0-9 _ -`,
    );
  }
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs <= 0) {
    throw new ConfigurationError(
      `The email channel's timeout must be whole milliseconds above 0, not ${timeoutMs}`,
    );
  }
  return {
    name: "email",
    async send(request, { signal }) {
      let email: Email;
      try {
        email = compose(request);
      } catch (error) {
        return refused(error);
      }
      const command = new SendEmailCommand({
        ...email.input,
        Source: sender.mailbox,
        ...(configurationSet === null ? {} : { ConfigurationSetName: configurationSet }),
      });
      return call({
        command,
        send: (abortSignal) => client.send(command, { abortSignal }),
        timeoutMs,
        signal,
        provider: "ses",
        classify: (error, flight) =>
          classify(error, { flight, to: email.address, from: sender.address, name: email.name }),
      });
    },
  };
}

type Email = { address: string; name: string; input: Omit<SendEmailCommandInput, "Source"> };

function compose(request: SendRequest): Email {
  const address = parseAddress(request.address);
  // SES: tag values are made of A-Z a-z 0-9 _ -, at most 256 of them.
  if (!/^[\w-]{1,256}$/.test(request.notificationId)) {
    throw new RefusedError("InvalidNotification", "notificationId cannot be a message tag");
  }
  const { subject, text, html } = renderEmail(request);
  return {
    address,
    name: cleanName(request.name),
    input: {
      Destination: { ToAddresses: [mailbox(request.name, address)] },
      Message: {
        Subject: { Data: subject, Charset: "UTF-8" },
        Body: { Text: { Data: text, Charset: "UTF-8" }, Html: { Data: html, Charset: "UTF-8" } },
      },
      Tags: [{ Name: "notification", Value: request.notificationId }],
    },
  };
}
