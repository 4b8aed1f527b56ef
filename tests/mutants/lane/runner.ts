import type { Plugin } from "vite";
import { createVitest, type TestCase, type Vitest } from "vitest/node";
import setUpCluster from "../../support/cluster.ts";
import { root } from "../list.ts";
import type { Mutant } from "../mutant.ts";
import { Template } from "./template.ts";

/** A test that failed, with its errors. */
export type Failure = { test: string; errors: { message: string; code: string }[] };

/**
 * Runs test files against the product, or against a mutant of it. One vitest and one PostgreSQL are kept up for all
 * runs. A module's mutant is given to the tests as they load it, one of the schema to the template of their databases:
 * nothing on disk changes.
 */
export class Runner {
  readonly #vitest: Vitest;
  readonly #template: Template;
  readonly #stopCluster: () => Promise<void>;
  readonly #sources: Map<string, string>;

  private constructor(
    vitest: Vitest,
    template: Template,
    stopCluster: () => Promise<void>,
    sources: Map<string, string>,
  ) {
    this.#vitest = vitest;
    this.#template = template;
    this.#stopCluster = stopCluster;
    this.#sources = sources;
  }

  static async start(): Promise<Runner> {
    const sources = new Map<string, string>();
    const vitest = await createVitest(
      "test",
      {
        config: false,
        root,
        watch: false,
        bail: 1,
        reporters: [{}],
        include: ["packages/**/*.test.ts"],
        setupFiles: ["tests/mutants/lane/seed.ts"],
        testTimeout: 20_000,
        hookTimeout: 60_000,
        maxWorkers: 1,
        // A thread is there sooner than a process, and a run is hardly more than its start.
        pool: "threads",
        // It would keep a mutant for the next run of the tests.
        fsModuleCache: false,
      },
      { plugins: [mutate(sources)] },
    );
    await vitest.standalone();
    const project = vitest.getRootProject();
    const stopCluster = await setUpCluster(project);
    return new Runner(
      vitest,
      await Template.keep(project.getProvidedContext().cluster),
      stopCluster,
      sources,
    );
  }

  /** Puts a mutant in the place of the product, or the product back. Throws when PostgreSQL can't read it. */
  async use(mutant: Mutant | null): Promise<void> {
    const changed = [...this.#sources.keys()];
    this.#sources.clear();
    if (mutant && "file" in mutant.change) {
      const file = `${root}/${mutant.change.file}`;
      this.#sources.set(file, mutant.change.source);
      changed.push(file);
    }
    for (const file of changed) this.#vitest.invalidateFile(file);
    await this.#template.use(mutant && "sql" in mutant.change ? mutant.change.sql : null);
  }

  /** Runs a file, or one test of it, up to the first failure; null when there is none. */
  async run(file: string, test?: string): Promise<Failure | null> {
    const only = test
      ? { testNamePattern: new RegExp(`${test.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")}$`) }
      : {};
    const spec = this.#vitest.getRootProject().createSpecification(`${root}/${file}`, only);
    const { testModules, unhandledErrors } = await this.#vitest.runTestSpecifications([spec]);
    // Those of earlier runs come along.
    for (const module of testModules.filter(({ moduleId }) => moduleId === spec.moduleId)) {
      const [failed] = module.children.allTests("failed");
      if (failed) return { test: failed.name, errors: errorsOf(failed) };
      const [broken] = [...module.children.allSuites()].flatMap((suite) => suite.errors());
      const [error] = [...module.errors(), ...(broken ? [broken] : [])];
      if (error) return { test: "", errors: [toError(error)] };
    }
    const [unhandled] = unhandledErrors;
    return unhandled === undefined ? null : { test: "", errors: [toError(unhandled)] };
  }

  async stop(): Promise<void> {
    // Side by side: a test that hangs keeps vitest, and must not keep PostgreSQL.
    await Promise.allSettled([this.#vitest.close(), this.#stopCluster()]);
  }
}

/** Gives a mutant's source to whoever loads its module. */
const mutate = (sources: ReadonlyMap<string, string>): Plugin => ({
  name: "mutant",
  enforce: "pre",
  transform: (_code, id) => {
    const source = sources.get(id);
    return source === undefined ? null : { code: source, map: null };
  },
});

const errorsOf = (test: TestCase) => (test.result().errors ?? []).map(toError);

function toError(error: unknown): Failure["errors"][number] {
  if (typeof error !== "object" || error === null) return { message: String(error), code: "" };
  const message = "message" in error ? String(error.message) : "";
  const cause = "cause" in error ? toError(error.cause).code : "";
  return { message, code: "code" in error ? String(error.code) : cause };
}
