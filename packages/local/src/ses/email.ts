/** An email as a client asked for it. */
export interface Email {
  readonly action: "SendEmail" | "SendRawEmail";
  readonly source: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly bcc: readonly string[];
  readonly replyTo: readonly string[];
  readonly subject: string;
  readonly text: string | undefined;
  readonly html: string | undefined;
  readonly tags: Readonly<Record<string, string>>;
  readonly configurationSet: string | undefined;
}

/** An email that SES accepted. */
export interface AcceptedEmail extends Email {
  readonly messageId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export const recipients = ({ to, cc, bcc }: Email): readonly string[] => [...to, ...cc, ...bcc];
