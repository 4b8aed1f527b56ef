import type { Stack } from "../stack/stack.ts";
import type { Synthesis } from "../synth/synthesis.ts";

/**
 * In the JSON of something synthesised, one text put for another wherever it is. `what`: a resource's name, `function
 * <name>` for what SST bundles, `app`, or `outputs`.
 */
export type Change = [what: string, text: string, instead: string];

/** A mistake in what is deployed, however it came there, and the rule that notices. */
export type ChangeMistake = {
  rule: string;
  /** production when absent. */
  in?: "dev" | "every channel";
  changes: Change[];
};

/** The stack as it would be with these changes. Throws when there is nothing to change. */
export const changed = (stack: Stack, changes: readonly Change[]): Stack =>
  stack.with((synthesis) => {
    for (const [what, text, instead] of changes) {
      const found = find(synthesis, what);
      const json = JSON.stringify(found);
      if (!json.includes(text)) throw new Error(`${what} has no ${text} in it:\n${json}`);
      for (const name of Object.keys(found)) Reflect.deleteProperty(found, name);
      Object.assign(found, JSON.parse(json.replaceAll(text, instead)));
    }
  });

function find({ app, outputs, resources, functions }: Synthesis, what: string): object {
  if (what === "app") return app;
  if (what === "outputs") return outputs;
  const found =
    functions.find(({ id }) => `function ${id}` === what) ??
    resources.find(({ name, custom }) => custom && name === what);
  if (!found) throw new Error(`there is no ${what}`);
  return found;
}
