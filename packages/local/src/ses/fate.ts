import { type Email, recipients } from "./email.ts";

/** What becomes of an email that SES has accepted. Each is told by events, after the one that it was sent. */
export type Fate =
  | { readonly kind: "arrive" }
  /** `late`: the recipient's mail server takes it first, and returns it afterwards. */
  | {
      readonly kind: "bounce";
      readonly type?: BounceType;
      readonly subType?: string;
      readonly late?: boolean;
    }
  /** It arrives, and something answers by itself: to SES a bounce too, without a delivery report. */
  | { readonly kind: "answer"; readonly type?: "Transient" | "Undetermined" }
  /** It arrives, and the recipient complains; null: in a form that says no more. */
  | { readonly kind: "complain"; readonly type?: ComplaintType | null; readonly subType?: string }
  /** SES goes on trying; `arrives`: and it arrives in the end. */
  | { readonly kind: "delay"; readonly type?: string; readonly arrives?: boolean }
  /** SES finds a virus, and does not try. */
  | { readonly kind: "reject" };

export type BounceType = "Permanent" | "Transient" | "Undetermined";
export type ComplaintType = "abuse" | "auth-failure" | "fraud" | "not-spam" | "other" | "virus";

/** SES's mailbox simulator (SES developer guide): each of its addresses has its fate, with any `+label`. */
const simulator: ReadonlyMap<string, Fate> = new Map<string, Fate>([
  ["success", { kind: "arrive" }],
  ["bounce", { kind: "bounce" }],
  ["ooto", { kind: "answer" }],
  ["complaint", { kind: "complain" }],
  ["suppressionlist", { kind: "bounce", subType: "Suppressed" }],
]);

/** The fate of an email to the mailbox simulator; none for any other: nobody hears what becomes of it. */
export function simulatedFate(email: Email): Fate | undefined {
  for (const address of recipients(email)) {
    const [, name] = /^([\w-]+)(?:\+[^@]*)?@simulator\.amazonses\.com$/i.exec(bare(address)) ?? [];
    const fate = simulator.get(name?.toLowerCase() ?? "");
    if (fate) return fate;
  }
  return undefined;
}

/** The address alone of `Name <address>`. */
export const bare = (address: string): string => /<([^<>]*)>\s*$/.exec(address)?.[1] ?? address.trim();
