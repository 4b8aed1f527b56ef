import {
  type channels,
  type Email,
  renderEmail,
  renderSms,
  renderWebhook,
  sampleRequest,
  segmentsOf,
} from "@owed/channel/templates";
import { plural } from "../text/words.ts";
import type { Options } from "./options.ts";

export type Channel = (typeof channels)[number];
type Request = ReturnType<typeof sampleRequest>;

/** What each channel sends. `segments`: the parts of a text, each of which is paid for. */
export type Messages = {
  email: Email;
  sms: { text: string; segments: number; encoding: string };
  webhook: { title: string; text: string };
};

/** A template's message on a channel, with the values of the sample, or those that are given. */
export const rendered = <Name extends Channel>(
  channel: Name,
  template: string,
  values: Options,
): { request: Request; message: Messages[Name] } => {
  const request = requestOf(values, template);
  return { request, message: render[channel](request) };
};

const render: { [Name in Channel]: (request: Request) => Messages[Name] } = {
  email: renderEmail,
  sms(request) {
    const text = renderSms(request);
    const { segments, encoding } = segmentsOf(text);
    return { text, segments, encoding };
  },
  webhook: renderWebhook,
};

function requestOf(options: Options, template: string): Request {
  const sample = sampleRequest();
  const { shipment, merchant } = sample;
  return sampleRequest({
    template,
    name: options.name ?? sample.name,
    locale: options.locale ?? sample.locale,
    timeZone: options.timeZone ?? sample.timeZone,
    role: options.role ?? sample.role,
    shipment: {
      ...shipment,
      trackingNumber: options.parcel ?? shipment.trackingNumber,
      occurredAt: options.at === undefined ? shipment.occurredAt : new Date(options.at),
    },
    merchant: {
      ...merchant,
      name: options.merchant ?? merchant.name,
      trackingUrl: options.trackingUrl ?? merchant.trackingUrl,
    },
  });
}

/** In how many parts a text is sent, how it is written, and how long it is. */
export const costOf = ({ text, segments, encoding }: Messages["sms"]): string =>
  `${plural(segments, "segment")}, ${encoding}, ${plural([...text].length, "character")}`;
