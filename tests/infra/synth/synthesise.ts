import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { answerCalls } from "./calls.ts";
import { loadComponents } from "./components.ts";
import { computedOutputs } from "./computed.ts";
import { recordingMonitor } from "./monitor.ts";
import { platformOf } from "./platform.ts";
import { type AppArguments, loadProgram } from "./program.ts";
import { loadPulumi, type Mocks } from "./pulumi.ts";
import { startRpc } from "./rpc.ts";
import type { Synthesis, Task } from "./synthesis.ts";
import { trimPulumi } from "./unused.ts";

/**
 * Runs sst.config.ts with SST's real components, and mocks in place of Pulumi's engine and SST's command line. Throws
 * what the program throws. Changes this process for good: once in a process.
 */
export async function synthesise({ root, stage, dev, bundles }: Task): Promise<Synthesis> {
  const platform = platformOf(root);
  const work = join(root, ".sst", "synth", `${stage}${dev ? "-dev" : ""}-${process.pid}`);
  mkdirSync(work, { recursive: true });
  pinNames();
  trimPulumi(platform);

  // All that sst.config.ts itself may use before its app is known.
  Object.assign(globalThis, { $config: (config: unknown) => config });
  const program = await loadProgram(root, platform);
  const app = withDefaults(await program.app({ stage }), stage);
  const paths = { home: work, root, work, platform };
  const $cli = { command: "deploy", dev, paths, state: { version: {} } };
  Object.assign(globalThis, { $app: app, $dev: dev, $cli });
  const { sst, globals, run } = await loadComponents(platform);
  const aws: unknown = createRequire(join(platform, "package.json"))("@pulumi/aws");
  Object.assign(globalThis, globals, { sst, aws });

  const { url, functions } = await startRpc({ root, known: bundles ?? work, work });
  Object.assign(process.env, { SST_SERVER: url, SST_AWS_REGION: app.region });

  const pulumi = loadPulumi(platform);
  const mocks = mocksOf(app.region);
  const { monitor, recording } = recordingMonitor(pulumi, mocks, app);
  await pulumi.setMocks(mocks, app.name, stage, false, "organization");
  pulumi.useMonitor(monitor);
  pulumi.setAllConfig({ "aws:region": app.region });

  await pulumi.runInPulumiStack(() => run(program.run));
  // What a component makes when an input is known, and each link, is registered later than the program ends.
  for (let before = -1; before < recording.resources.length; ) {
    before = recording.resources.length;
    await sleep(10);
    await pulumi.disconnect();
  }

  const [{ urn: stack } = { urn: "" }] = recording.resources;
  const { name, removal, protect, region } = app;
  return {
    app: { name, stage, removal, protect, region },
    dev,
    resources: recording.resources,
    functions: functions.toSorted((one, other) => one.id.localeCompare(other.id)),
    outputs: recording.outputs.get(stack) ?? {},
    said: "",
  };
}

function withDefaults(given: AppArguments, stage: string) {
  const { removal = "retain", protect = false, providers = {} } = given;
  return { ...given, stage, removal, protect, providers, region: providers.aws?.region ?? "us-east-1" };
}

function mocksOf(region: string): Mocks {
  const computed = computedOutputs(region);
  return {
    newResource(given) {
      // What is only referred to has its id for a name; the name that SST adds to it is of no account.
      const inputs = given.id ? { ...given.inputs, name: given.id } : given.inputs;
      const state = { name: given.name, ...inputs, ...computed({ ...given, inputs }) };
      const id = "id" in state ? String(state.id) : given.id || `${given.name}-id`;
      return { id, state };
    },
    call: answerCalls(region),
  };
}

/** SST ends each physical name with random letters: the same ones here, so that two syntheses can be compared. */
function pinNames(): void {
  const crypto: { randomBytes: typeof randomBytes } = createRequire(import.meta.url)("node:crypto");
  const pinned = (size: number) => (size === 8 ? Buffer.alloc(size) : randomBytes(size));
  Object.assign(crypto, { randomBytes: pinned });
}
