/** One resource as the program registers it with Pulumi, before any provider sees it. */
export type Resource = {
  urn: string;
  /** Pulumi's type, such as `aws:sqs/queue:Queue`. */
  type: string;
  name: string;
  /** URN of the component that made it; null at the top. */
  parent: string | null;
  /** What the program asked for, with secrets in the clear: under mocks they are only placeholders. */
  inputs: Record<string, unknown>;
  /** As AWS would name it; null for what has none. */
  arn: string | null;
  /** A provider keeps it; false for a component, which only groups others. */
  custom: boolean;
  protect: boolean;
  retainOnDelete: boolean;
  /** URNs of what must stand before it, whether named by `dependsOn` or used in its inputs. */
  dependencies: string[];
};

/** What SST hands to its builder for a function, and what came of it. */
export type FunctionBuild = {
  /** The function's logical name. */
  id: string;
  handler: string;
  /** The links' values by name: they are encrypted into the bundle. */
  links: Record<string, unknown>;
  /** Bytes of the bundle; null in dev, where nothing is deployed. */
  bytes: number | null;
  copyFiles: string[];
};

/** All that a synthesis finds out; plain JSON. */
export type Synthesis = {
  app: { name: string; stage: string; removal: string; protect: boolean; region: string };
  dev: boolean;
  resources: Resource[];
  functions: FunctionBuild[];
  /** What `run()` returns, shown after a deployment. */
  outputs: Record<string, unknown>;
  /** What the program and SST wrote while it ran. */
  said: string;
};

/** What a synthesis is made of. */
export type SynthesisOptions = {
  stage: string;
  dev?: boolean;
  /** Merged over the stage's own settings, as `OWED_SETTINGS` is. */
  settings?: Record<string, unknown>;
  /** Folder with sst.config.ts; this repository when absent. */
  root?: string;
  /** Folder in which bundles are kept for the next synthesis whose sources are the same; none when absent. */
  bundles?: string | null;
};

/** What the child process answers. */
export type Answer = { synthesis: Synthesis } | { errors: string[] };

/** What the child process is told. */
export type Task = {
  root: string;
  stage: string;
  dev: boolean;
  bundles: string | null;
};
