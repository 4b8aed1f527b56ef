import { SqsError } from "./errors.ts";

/** A JSON object of which nothing else is known yet. */
export type Json = Readonly<Record<string, unknown>>;

/** @throws SqsError SerializationException */
export function parseObject(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed("the body is not JSON");
  }
  if (!isObject(value)) throw malformed("the body is not a JSON object");
  return value;
}

/** A member of type string, undefined when absent. @throws SqsError SerializationException */
export function text(object: Json, member: string): string | undefined {
  const value = object[member];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw malformed(`${member} is not a string`);
  return value;
}

/** A member of type integer, undefined when absent. @throws SqsError SerializationException */
export function integer(object: Json, member: string): number | undefined {
  const value = object[member];
  if (value === undefined || value === null) return undefined;
  if (!Number.isInteger(value)) throw malformed(`${member} is not an integer`);
  return Number(value);
}

/** A member that lists objects, empty when absent. @throws SqsError SerializationException */
export function objects(object: Json, member: string): readonly Json[] {
  const value = object[member] ?? [];
  if (!Array.isArray(value)) throw malformed(`${member} is not a list`);
  return value.map((item: unknown) => {
    if (!isObject(item)) throw malformed(`${member} holds something that is not an object`);
    return item;
  });
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const malformed = (why: string) =>
  new SqsError("SerializationException", `The request is malformed: ${why}.`);
