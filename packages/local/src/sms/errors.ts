import type { Failure } from "../provider/fault.ts";

/** An error as AWS End User Messaging reports it. */
export interface SmsFailure extends Failure {
  /** Why, as a code word: `DESTINATION_PHONE_NUMBER_OPTED_OUT`. */
  readonly reason?: string;
  /** What a ValidationException complains of. */
  readonly fields?: readonly { readonly Name: string; readonly Message: string }[];
}

export class SmsError extends Error implements SmsFailure {
  override readonly name = "SmsError";
  readonly status: number;
  readonly code: string;
  readonly reason: string;
  readonly fields: readonly { readonly Name: string; readonly Message: string }[];

  constructor(code: string, reason: string, message: string, fields: SmsError["fields"] = []) {
    super(message);
    this.status = 400;
    this.code = code;
    this.reason = reason;
    this.fields = fields;
  }
}

/** A field that breaks its constraint. */
export const invalid = (Name: string, Message: string) =>
  new SmsError("ValidationException", "FIELD_VALIDATION_FAILED", "1 validation error detected.", [
    { Name, Message },
  ]);

/** The answer of the AWS JSON protocol for an error. */
export function errorJson({ code, message, reason, fields }: SmsFailure): string {
  return JSON.stringify({
    __type: `com.amazonaws.pinpointsmsvoicev2#${code}`,
    Message: message,
    ...(reason && { Reason: reason }),
    ...(fields?.length && { Fields: fields }),
  });
}
