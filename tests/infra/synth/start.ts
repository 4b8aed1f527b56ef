import { fork } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { secretMark } from "./computed.ts";
import { repository } from "./platform.ts";
import type { Answer, Synthesis, SynthesisOptions, Task } from "./synthesis.ts";
import { Tree } from "./tree.ts";

/** Seconds after which a synthesis counts as stuck. */
const patience = 120;

/** The program refused its settings, threw, or asked for something that is not there: each error a line. */
export class SynthesisFailed extends Error {
  override readonly name = "SynthesisFailed";
  readonly errors: string[];
  constructor(errors: string[]) {
    super(errors.join("\n"));
    this.errors = errors;
  }
}

/**
 * Synthesises a stage in a process of its own; SST's platform must be there. Under `dev` a database of the developer's
 * is made up. @throws SynthesisFailed
 */
export async function startSynthesis(options: SynthesisOptions): Promise<Synthesis> {
  if (!options.dev || options.root) return synthesiseIn(options.root ?? repository, options);
  using tree = new Tree();
  return await synthesiseIn(tree.root, options);
}

async function synthesiseIn(
  root: string,
  { stage, dev = false, settings = {}, bundles = null }: SynthesisOptions,
): Promise<Synthesis> {
  const child = fork(join(import.meta.dirname, "child.ts"), {
    cwd: root,
    env: environment(settings, bundles),
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    timeout: patience * 1000,
  });
  const said = Promise.all([child.stdout, child.stderr].map((stream) => (stream ? text(stream) : "")));
  const answered = new Promise<Answer>((resolve) => {
    child.once("message", (answer: Answer) => resolve(answer));
    child.once("exit", (code, signal) => {
      const how = signal
        ? `it was stopped after ${patience} s (${signal})`
        : `its process ended with ${code}`;
      said.then((output) =>
        resolve({ errors: [`there is no synthesis: ${how}. ${output.join("").trim()}`] }),
      );
    });
  });
  child.send({ root, stage, dev, bundles } satisfies Task);
  const answer = await answered;
  const output = (await said).join("");
  rmSync(join(root, ".sst", "synth", `${stage}${dev ? "-dev" : ""}-${child.pid}`), {
    recursive: true,
    force: true,
  });
  if ("errors" in answer) throw new SynthesisFailed(answer.errors);
  return { ...answer.synthesis, said: output };
}

/**
 * Nothing of this shell's account, stage or state may have a say in what is synthesised. What Node compiles is kept with
 * the bundles: elsewhere each synthesis would leave its own program behind.
 */
function environment(settings: Record<string, unknown>, bundles: string | null): NodeJS.ProcessEnv {
  const foreign = /^(AWS|SST|PULUMI|OWED)_|^NODE_(OPTIONS|COMPILE_CACHE)$/;
  const own = Object.entries(process.env).filter(([name]) => !foreign.test(name));
  return {
    ...Object.fromEntries(own),
    OWED_SETTINGS: JSON.stringify(settings),
    // As `sst secret set` would have it.
    SST_SECRET_WebhookKey: secretMark("WebhookKey"),
    NO_COLOR: "1",
    ...(bundles === null ? {} : { NODE_COMPILE_CACHE: join(bundles, "compiled") }),
  };
}
