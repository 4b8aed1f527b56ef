import { createRequire } from "node:module";
import { join } from "node:path";

/** A protobuf message that holds an object. */
type Struct = { toJavaScript(): Record<string, unknown> };

export type RegisterRequest = {
  getType(): string;
  getName(): string;
  getParent(): string;
  getCustom(): boolean;
  getObject(): Struct | undefined;
  getProtect(): boolean;
  getRetainondelete(): boolean;
  getDependenciesList(): string[];
};

export type ReadRequest = {
  getType(): string;
  getName(): string;
  getParent(): string;
  getProperties(): Struct | undefined;
};

export type OutputsRequest = { getUrn(): string; getOutputs(): Struct | undefined };

export type Callback = (error: unknown, response: unknown) => void;

export type ResourceArguments = { type: string; name: string; inputs: Record<string, unknown>; id?: string };
export type CallArguments = { token: string; inputs: Record<string, unknown> };

export type Mocks = {
  newResource(given: ResourceArguments): { id: string; state: Record<string, unknown> };
  call(given: CallArguments): Record<string, unknown>;
};

/** Stands in for Pulumi's engine: what the program registers comes here. */
export declare class MockMonitor {
  constructor(mocks: Mocks);
  /** By URN, what the mocks answered. */
  resources: Map<string, { state: Record<string, unknown> }>;
  newUrn(parent: string, type: string, name: string): string;
  registerResource(request: RegisterRequest, callback: Callback): Promise<void>;
  readResource(request: ReadRequest, callback: Callback): Promise<void>;
  registerResourceOutputs(request: OutputsRequest, callback: Callback): void;
}

/** The parts of Pulumi's runtime that a synthesis drives. */
export type Pulumi = {
  MockMonitor: typeof MockMonitor;
  setMocks(
    mocks: Mocks,
    project: string,
    stack: string,
    preview: boolean,
    organization: string,
  ): Promise<void>;
  setAllConfig(config: Record<string, string>): void;
  runInPulumiStack(program: () => Promise<unknown>): Promise<unknown>;
  /** Waits for every registration that has begun. */
  disconnect(): Promise<void>;
  useMonitor(monitor: MockMonitor): void;
};

/** Pulumi as the platform's components import it: a second copy would know nothing of the mocks. */
export function loadPulumi(platform: string): Pulumi {
  const load = createRequire(join(platform, "package.json"));
  const { runtime }: { runtime: Omit<Pulumi, "MockMonitor" | "useMonitor"> } = load("@pulumi/pulumi");
  const mocks: { MockMonitor: typeof MockMonitor } = load("@pulumi/pulumi/runtime/mocks");
  const state: {
    getStore(): { settings: { monitor: MockMonitor } };
  } = load("@pulumi/pulumi/runtime/state");
  return {
    ...mocks,
    setMocks: runtime.setMocks,
    setAllConfig: runtime.setAllConfig,
    runInPulumiStack: runtime.runInPulumiStack,
    disconnect: runtime.disconnect,
    useMonitor(monitor) {
      state.getStore().settings.monitor = monitor;
    },
  };
}
