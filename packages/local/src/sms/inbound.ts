import { randomUUID } from "node:crypto";

/** A text that somebody sent to us, as two-way SMS gives it to an SNS topic (user guide, "two-way SMS message payload"). */
export interface InboundText {
  readonly originationNumber: string;
  readonly destinationNumber: string;
  readonly messageKeyword: string;
  readonly messageBody: string;
  readonly inboundMessageId: string;
  /** The last of our texts that this number got. */
  readonly previousPublishedMessageId?: string;
}

export function inboundOf(from: string, to: string, text: string, previous: string | undefined): InboundText {
  const keyword = keywordOf(text);
  return {
    originationNumber: from,
    destinationNumber: to,
    messageKeyword: keyword || "KEYWORD_000000000000",
    messageBody: text,
    inboundMessageId: randomUUID(),
    ...(previous !== undefined && { previousPublishedMessageId: previous }),
  };
}

/** Keywords that put a number on AWS's opt-out list by themselves (user guide, "Required opt-out keywords"). */
const OPT_OUT = new Set("ARRET CANCEL END OPT-OUT OPTOUT QUIT REMOVE STOP TD UNSUBSCRIBE".split(" "));

/** The opt-out keyword that a text begins with, or empty. */
export function keywordOf(text: string): string {
  const first = text.trim().split(/\s/)[0]?.toUpperCase() ?? "";
  return OPT_OUT.has(first) ? first : "";
}
