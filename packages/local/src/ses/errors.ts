/** An error as SES reports it: `code` is what the SDK calls the error's name. */
export class SesError extends Error {
  override readonly name = "SesError";
  readonly code: string;
  readonly status: number;

  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

export const invalidValue = (message: string) => new SesError("InvalidParameterValue", message);
