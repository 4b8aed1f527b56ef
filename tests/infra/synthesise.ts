import { inject } from "vitest";
import type { GivenSettings } from "../../infra/settings.ts";
import { limit } from "./limit.ts";
import { Stack } from "./stack/stack.ts";
import { withSender } from "./synth/sender.ts";
import { startSynthesis } from "./synth/start.ts";

/** Two cores: more at a time would only make each other's slower. */
const inTurn = limit(2);

type Options = { stage: string; dev?: boolean; settings?: GivenSettings; root?: string };

/** A stage, synthesised in a process of its own. @throws SynthesisFailed */
export async function synthesise({ stage, dev = false, settings = {}, root }: Options): Promise<Stack> {
  const overrides = withSender(settings);
  const options = { stage, dev, settings: overrides, bundles: inject("bundles"), ...(root ? { root } : {}) };
  return new Stack(await inTurn(() => startSynthesis(options)), overrides);
}
