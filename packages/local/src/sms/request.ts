import { invalid, SmsError } from "./errors.ts";
import type { Text } from "./text.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * The text message that SendTextMessage asks for, checked as its API reference says (AWS End User Messaging SMS, version
 * 2: lengths and patterns of its request parameters).
 *
 * @throws SmsError ValidationException, SerializationException
 */
export function parseText(body: string): Text {
  const request = parseObject(body);
  const type = text(request, "MessageType", /^(TRANSACTIONAL|PROMOTIONAL)$/, 20) ?? "TRANSACTIONAL";
  return {
    to: required(
      text(request, "DestinationPhoneNumber", /^\+?[1-9][0-9]{1,18}$/, 20),
      "DestinationPhoneNumber",
    ),
    from: text(request, "OriginationIdentity", /^[A-Za-z0-9_:/+-]+$/, 256) ?? "+12065550100",
    text: required(text(request, "MessageBody", /\S/, 1_600), "MessageBody"),
    type: type === "PROMOTIONAL" ? "PROMOTIONAL" : "TRANSACTIONAL",
    context: context(request),
    configurationSet: text(request, "ConfigurationSetName", /^[A-Za-z0-9_:/-]+$/, 256),
    timeToLive: timeToLive(request),
  };
}

function text(request: Json, field: string, pattern: RegExp, longest: number): string | undefined {
  const value = request[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw malformed(`${field} is not a string`);
  if (value.length < 1 || value.length > longest)
    throw invalid(field, `Member must have length between 1 and ${longest}`);
  if (!pattern.test(value))
    throw invalid(field, `Member must satisfy regular expression pattern: ${pattern.source}`);
  return value;
}

function required(value: string | undefined, field: string): string {
  if (value !== undefined) return value;
  throw new SmsError("ValidationException", "MISSING_PARAMETER", `${field} is required.`, [
    { Name: field, Message: "Member must not be null" },
  ]);
}

const MAX_CONTEXT = 5;

function context({ Context: given }: Json): Record<string, string> {
  if (given === undefined || given === null) return {};
  if (!isObject(given)) throw malformed("Context is not a map");
  const entries = Object.entries(given);
  if (entries.length > MAX_CONTEXT)
    throw invalid("Context", `Member must have ${MAX_CONTEXT} entries at most`);
  const found: Record<string, string> = {};
  for (const [key, value] of entries) {
    if (typeof value !== "string") throw malformed("Context holds something that is not a string");
    if (!/^\S{1,100}$/.test(key))
      throw invalid("Context", "Map keys must have 1 to 100 characters and no space");
    if (value.length < 1 || value.length > 800 || value.trim() !== value)
      throw invalid("Context", "Map values must have 1 to 800 characters and no space around them");
    found[key] = value;
  }
  return found;
}

const LONGEST_SECONDS = 72 * 60 * 60;

function timeToLive({ TimeToLive: given }: Json): number {
  if (given === undefined || given === null) return LONGEST_SECONDS;
  if (typeof given !== "number" || !Number.isInteger(given)) throw malformed("TimeToLive is not an integer");
  if (given < 5 || given > LONGEST_SECONDS)
    throw invalid("TimeToLive", `Member must be between 5 and ${LONGEST_SECONDS}`);
  return given;
}

function parseObject(body: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw malformed("the body is not JSON");
  }
  if (!isObject(value)) throw malformed("the body is not a JSON object");
  return value;
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const malformed = (why: string) =>
  new SmsError("SerializationException", "", `The request is malformed: ${why}.`);
