import { lambdaOf } from "../stack/views.ts";
import { type Rule, unless } from "./rule.ts";

/** Seconds: another deployment's runner is waited for, and a migration works on all of the ledger. */
const leastOfMigrate = 300;

export const timeoutRules: Rule[] = [
  {
    name: "migrate has five minutes at least",
    check: (stack) =>
      unless(
        [lambdaOf(stack, "Migrate") ?? []].flat(),
        ({ inputs }) => inputs.timeout >= leastOfMigrate,
        ({ name, inputs }) => `${name} is ended after ${inputs.timeout} s`,
      ),
  },
];
