/**
 * A row that can never be sent as it is: its address, template or data is unusable. The message starts
 * with the code and names the field, never its content.
 */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
  readonly code: string;

  constructor(code: string, detail: string) {
    super(`${code}: ${detail}`);
    this.code = code;
  }
}

/** The channel itself is set up wrongly, which no row can cure: thrown when the channel is made. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}

/** What SES lets this account send is not known. Sends may go on; only their pace has to come from elsewhere. */
export class LimitsUnavailable extends Error {
  override readonly name = "LimitsUnavailable";

  constructor(detail: string, options?: ErrorOptions) {
    super(
      `The email channel's limits could not be read from SES (${detail}). ` +
        "Reading needs the permission ses:GetSendQuota; the setting limits.email.rate does without.",
      options,
    );
  }
}
