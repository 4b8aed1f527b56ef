import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Stage } from "../../infra/bundle.ts";
import type { Invocation, Said } from "./host.ts";

const program = fileURLToPath(new URL("host.ts", import.meta.url));

/** Seconds, as on AWS. */
const timeouts: Record<Stage, number> = { migrate: 300, ingest: 30, sweep: 60, deliver: 30, feedback: 30 };

export type Lambda = {
  /** Milliseconds that loading it took. */
  readonly loaded: number;
  /** One invocation at a time. Throws what the function threw, as text. */
  invoke(event: unknown): Promise<{ answer: unknown; took: number }>;
  /** What it wrote to standard output and standard error until now. */
  output(): string;
  /** SIGKILL; resolves when the process is gone. */
  stop(): Promise<void>;
};

export type LambdaOptions = {
  stage: Stage;
  /** What Lambda would show as `/var/task`. */
  folder: string;
  environment: Record<string, string>;
};

/**
 * Starts a function's artefact in a process of its own, and resolves when it is loaded. Nothing of this process's
 * environment is in it, and nothing of the repository's packages in its reach, as long as the folder is elsewhere.
 */
export async function startLambda({ stage, folder, environment }: LambdaOptions): Promise<Lambda> {
  const child = fork(program, [], {
    cwd: folder,
    env: {
      ...environment,
      LAMBDA_TASK_ROOT: folder,
      AWS_LAMBDA_FUNCTION_NAME: stage,
      AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
      AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
      NODE_EXTRA_CA_CERTS: join(folder, "rds-ca.pem"),
      TZ: ":UTC",
    },
    execArgv: [],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  const exited = once(child, "exit");
  const gone = exited.then(([code, signal]) => {
    throw new Error(`the process of ${stage} ended (${signal ?? code}):\n${output}`);
  });
  gone.catch(() => {});
  const heard = async (): Promise<Exclude<Said, { error: string }>> => {
    const [said] = (await Promise.race([once(child, "message"), gone])) as [Said];
    if ("error" in said) throw new Error(`${stage}: ${said.error}`);
    return said;
  };
  const stop = async () => {
    child.kill("SIGKILL");
    await exited;
  };

  const said = await heard().catch(async (error) => {
    await stop();
    throw error;
  });
  return {
    loaded: "loaded" in said ? said.loaded : 0,
    async invoke(event) {
      child.send({ event, timeoutSeconds: timeouts[stage] } satisfies Invocation);
      const answered = await heard();
      if (!("answer" in answered)) throw new Error(`${stage} said something else than an answer`);
      return answered;
    },
    output: () => output,
    stop,
  };
}
