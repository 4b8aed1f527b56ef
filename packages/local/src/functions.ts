import { join } from "node:path";

/** The functions' handlers. */
export type Functions = Awaited<ReturnType<typeof loadSources>>;

/** Loads the functions from their sources. They read their environment when they are loaded. */
export async function loadSources() {
  return {
    migrate: (await import("@owed/functions/migrate")).handler,
    ingest: (await import("@owed/functions/ingest")).handler,
    sweep: (await import("@owed/functions/sweep")).handler,
    deliver: (await import("@owed/functions/deliver")).handler,
    feedback: (await import("@owed/functions/feedback")).handler,
  };
}

/** Loads them from the artefacts that `npm run build` left in this folder, each from where it would find itself on Lambda. */
export async function loadBundles(build: string): Promise<Functions> {
  const load = async <Name extends keyof Functions>(name: Name) => {
    const folder = join(build, name);
    process.env.LAMBDA_TASK_ROOT = folder;
    const { handler } = (await import(join(folder, "bundle.mjs"))) as { handler: Functions[Name] };
    return handler;
  };
  try {
    return {
      migrate: await load("migrate"),
      ingest: await load("ingest"),
      sweep: await load("sweep"),
      deliver: await load("deliver"),
      feedback: await load("feedback"),
    };
  } finally {
    delete process.env.LAMBDA_TASK_ROOT;
  }
}
