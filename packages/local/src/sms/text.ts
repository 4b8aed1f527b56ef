/** A text message as a client asked for it. */
export interface Text {
  readonly to: string;
  readonly from: string;
  readonly text: string;
  readonly type: "TRANSACTIONAL" | "PROMOTIONAL";
  /** The client's own data, which its events carry back. */
  readonly context: Readonly<Record<string, string>>;
  readonly configurationSet: string | undefined;
  /** Seconds. */
  readonly timeToLive: number;
}

/** A text message that was accepted. */
export interface AcceptedText extends Text {
  readonly messageId: string;
  readonly encoding: "GSM" | "UNICODE";
  /** Message parts, each of which costs. */
  readonly segments: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}
