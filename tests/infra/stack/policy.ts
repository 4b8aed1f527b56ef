import * as v from "valibot";

const oneOrMore = v.pipe(
  v.union([v.string(), v.array(v.string())]),
  v.transform((given) => [given].flat()),
);

const statement = v.object({
  Effect: v.picklist(["Allow", "Deny"]),
  Principal: v.optional(v.union([v.literal("*"), v.record(v.string(), oneOrMore)])),
  Action: v.optional(oneOrMore, []),
  NotAction: v.optional(oneOrMore, []),
  Resource: v.optional(oneOrMore, []),
  NotResource: v.optional(oneOrMore, []),
  Condition: v.optional(v.record(v.string(), v.record(v.string(), oneOrMore)), {}),
});

/** A policy document's statements; a trust policy may be given as an object. */
export const policy = v.pipe(
  v.union([v.pipe(v.string(), v.parseJson()), v.looseObject({})]),
  v.object({
    Version: v.literal("2012-10-17"),
    Statement: v.pipe(
      v.union([statement, v.array(statement)]),
      v.transform((given) => [given].flat()),
    ),
  }),
  v.transform(({ Statement }) => Statement),
);

export type Statement = v.InferOutput<typeof statement>;

/** The statements of a policy document, as JSON or as an object. */
export const statementsOf = (given: unknown): Statement[] => v.parse(policy, given);
