import type { Shown } from "./ses/mailbox.ts";
import type { LocalSms } from "./sms/index.ts";
import type { LocalWebhooks } from "./webhook/index.ts";

/** Of the webhooks' latest so many are looked through. */
const searched = 10_000;
const listed = 100;

/** The latest texts and webhooks as the mailbox page shows them beside the emails. */
export function shownOthers(
  sms: Pick<LocalSms, "smsRows">,
  { received }: Pick<LocalWebhooks, "received">,
  query: string,
): Shown[] {
  const texts = sms.smsRows(query).map(
    ({ messageId, from, to, text, segments, notification, at }): Shown => ({
      ...{ id: messageId, channel: "sms", to, title: text, body: text, at },
      facts: {
        From: from,
        Segments: String(segments),
        notification: notification ?? "",
        "Message id": messageId,
      },
    }),
  );
  const webhooks = received
    .slice(-searched)
    .filter(({ merchant, body, id }) =>
      `${merchant}\n${id}\n${body}`.toLowerCase().includes(query.toLowerCase()),
    )
    .map(
      ({ id, merchant, body, verified, problem, repeats, at }): Shown => ({
        ...{
          id: `${id} ${at}`,
          channel: "webhook",
          to: merchant,
          title: typeOf(body),
          body,
          at: Math.floor(at / 1000),
        },
        facts: {
          Signature: verified ? "verified" : problem,
          "Repeat of": repeats > 0 ? `${repeats} before it: dropped` : "",
          notification: id,
        },
      }),
    );
  return [...texts, ...webhooks].toSorted((a, b) => a.at - b.at).slice(-listed);
}

function typeOf(body: string): string {
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === "object" && parsed !== null && "type" in parsed
      ? String(parsed.type)
      : "webhook";
  } catch {
    return "webhook";
  }
}
