import type { Proof } from "@owed/ledger";
import * as v from "valibot";

/** What an event says of the email, and of the address that it went to. */
export type Verdict = Pick<Proof, "outcome" | "detail" | "suppress">;

/** A code word of SES's. Anything else is passed over, never quoted: texts from mail servers name addresses. */
const codeWord = /^[A-Za-z][A-Za-z0-9 _-]{0,39}$/;
const word = v.fallback(v.pipe(v.string(), v.regex(codeWord)), "");

/**
 * The part of an event beside its `mail`: SES's own findings, never a mail server's text. What is missing or
 * malformed reads as empty, since the event is evidence of acceptance all the same.
 */
export const findings = {
  bounce: v.fallback(
    v.object({
      bounceType: word,
      bounceSubType: word,
      bouncedRecipients: v.fallback(v.array(v.fallback(v.object({ action: word }), { action: "" })), []),
    }),
    { bounceType: "", bounceSubType: "", bouncedRecipients: [] },
  ),
  complaint: v.fallback(v.object({ complaintFeedbackType: word, complaintSubType: word }), {
    complaintFeedbackType: "",
    complaintSubType: "",
  }),
  reject: v.fallback(v.object({ reason: word }), { reason: "" }),
  deliveryDelay: v.fallback(v.object({ delayType: word }), { delayType: "" }),
};

const schema = v.object({ eventType: v.string(), ...findings });
type Detail = v.InferOutput<typeof schema>;

/**
 * The verdict of an SES event by its type (Amazon SES developer guide, event publishing); null for a type that
 * says nothing about what became of an email.
 */
export function verdictOf(detail: Detail): Verdict | null {
  switch (detail.eventType) {
    case "Send":
      return { outcome: "accepted", detail: null, suppress: false };
    case "DeliveryDelay":
      return { outcome: "accepted", detail: say("delayed", detail.deliveryDelay.delayType), suppress: false };
    case "Delivery":
      return { outcome: "arrived", detail: null, suppress: false };
    case "Bounce":
      return bounced(detail.bounce);
    case "Reject":
      // SES accepted it, found a virus and does not deliver: nothing against the address.
      return { outcome: "bounced", detail: say("rejected", detail.reject.reason), suppress: false };
    case "Complaint":
      return complained(detail.complaint);
    default:
      return null;
  }
}

const bounceTypes = new Set(["Permanent", "Transient", "Undetermined"]);

/**
 * SES writes off an address with a `Permanent` bounce alone, whatever its subtype; to one that bounced otherwise
 * it may deliver again.
 *
 * An automatic answer ("out of office") is to SES a bounce too, `Transient: General` or `Undetermined`, and comes
 * after the delivery. It has no delivery report in it, which would say for each recipient what was done (RFC 3464,
 * `Action`). So a vague bounce without a report of a failure says no more than that the email was accepted: an
 * arrival stands. Every other bounce outranks an arrival, since a mail server may take an email and return it later.
 */
function bounced({ bounceType, bounceSubType, bouncedRecipients }: Detail["bounce"]): Verdict {
  const type = bounceTypes.has(bounceType) ? bounceType : "bounce";
  const vague = type === "Undetermined" || (type === "Transient" && bounceSubType === "General");
  const reported = bouncedRecipients.some(({ action }) => action === "failed");
  return {
    outcome: vague && !reported ? "accepted" : "bounced",
    detail: say(type, bounceSubType),
    suppress: type === "Permanent",
  };
}

/** The recipient does not want such emails; or, with `not-spam`, says that one was wrongly taken for spam. */
function complained({ complaintFeedbackType, complaintSubType }: Detail["complaint"]): Verdict {
  const said = [complaintFeedbackType, complaintSubType].filter(Boolean).join(" ");
  return {
    outcome: "complained",
    detail: say("complaint", said),
    suppress: complaintFeedbackType !== "not-spam",
  };
}

const mostCharacters = 60;

const say = (code: string, more: string): string =>
  (more ? `${code}: ${more}` : code).slice(0, mostCharacters);
