import { namedIssues } from "@owed/functions/issues";
import * as v from "valibot";
import { faultsOf } from "./settings-rules.ts";
import { type GivenSettings, schema } from "./settings-schema.ts";

export type { GivenSettings };

type Parsed = v.InferOutput<typeof schema>;
export type Settings = Omit<Parsed, "network"> & {
  network: { nat: boolean; endpoints: boolean; bastion: string[] };
};

/** A stage's settings are wrong: which, why, and what to do. */
export class InvalidStage extends Error {
  override readonly name = "InvalidStage";
}

/**
 * The settings of a stage: what `stages.ts` gives it, and over that the environment's `OWED_SETTINGS`. Throws
 * `InvalidStage` naming every wrong one.
 */
export function settingsOf(stage: string, given: GivenSettings, overrides: string | undefined): Settings {
  if (!stageName.test(stage) || stage.length > 20)
    throw new InvalidStage(
      `no stage can be called ${stage}: 1 to 20 of a-z, 0-9 and single -, a letter first; give another with --stage`,
    );
  const refuse = (faults: string) =>
    new InvalidStage(`stage ${stage}: ${faults}; correct infra/stages.ts, or OWED_SETTINGS`);
  const over = readOverrides(overrides);
  if (over === null) throw refuse("OWED_SETTINGS is no JSON object");
  const parsed = v.safeParse(schema, merge(given, over));
  if (!parsed.success) throw refuse(namedIssues(parsed.issues, "settings"));
  const { network, webhooks } = parsed.output;
  const nat = network.nat ?? webhooks;
  const settings = { ...parsed.output, network: { ...network, nat, endpoints: network.endpoints ?? !nat } };
  const faults = faultsOf(stage, settings);
  if (faults.length > 0) throw refuse(faults.join("; "));
  return settings;
}

/** What of a stage's name stands in the names of queues, roles and the database. */
const stageName = /^[a-z](-?[a-z0-9])*$/;

function readOverrides(text: string | undefined): Record<string, unknown> | null {
  if (!text) return {};
  try {
    const given: unknown = JSON.parse(text);
    return isObject(given) ? given : null;
  } catch {
    return null;
  }
}

/** Objects are merged field by field; everything else, a list too, replaces what was there. */
function merge(under: unknown, over: unknown): unknown {
  if (!isObject(under) || !isObject(over)) return over;
  const merged = { ...under };
  for (const [name, value] of Object.entries(over)) merged[name] = merge(under[name], value);
  return merged;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
