import type {
  Callback,
  MockMonitor,
  Mocks,
  OutputsRequest,
  Pulumi,
  ReadRequest,
  RegisterRequest,
} from "./pulumi.ts";
import type { Resource } from "./synthesis.ts";

/** What the monitor has heard so far. */
export type Recording = {
  resources: Resource[];
  /** What components say of themselves when they are done, by URN. */
  outputs: Map<string, Record<string, unknown>>;
};

/**
 * Pulumi's mock monitor forgets a resource's options and shortens its URN: this one writes down what the program
 * registers, and refuses a second resource of the same URN, as the engine does.
 */
export function recordingMonitor(
  pulumi: Pulumi,
  mocks: Mocks,
  app: { name: string; stage: string },
): { monitor: MockMonitor; recording: Recording } {
  const recording: Recording = { resources: [], outputs: new Map() };
  const urns = new Set<string>();

  function note(resource: Resource): void {
    if (urns.has(resource.urn)) {
      throw new Error(
        `${resource.name} (${resource.type}) is made twice; a name stands for one resource of its type: give the second another name`,
      );
    }
    urns.add(resource.urn);
    recording.resources.push(resource);
  }

  class RecordingMonitor extends pulumi.MockMonitor {
    override newUrn(parent: string, type: string, name: string): string {
      const above = parent ? (parent.split("::")[2] ?? "") : "";
      const qualified = above && above !== "pulumi:pulumi:Stack" ? `${above}$${type}` : type;
      return `urn:pulumi:${app.stage}::${app.name}::${qualified}::${name}`;
    }

    override async registerResource(request: RegisterRequest, callback: Callback): Promise<void> {
      const resource: Resource = {
        ...this.identify(request),
        inputs: plain(request.getObject()),
        arn: null,
        custom: request.getCustom(),
        protect: request.getProtect(),
        retainOnDelete: request.getRetainondelete(),
        dependencies: request.getDependenciesList(),
      };
      try {
        note(resource);
      } catch (error) {
        return callback(error, undefined);
      }
      await super.registerResource(request, callback);
      resource.arn = this.arnOf(resource);
    }

    /** For what the program only refers to, by `X.get()`. */
    override async readResource(request: ReadRequest, callback: Callback): Promise<void> {
      const unmanaged = { custom: false, protect: false, retainOnDelete: false, dependencies: [] };
      const resource: Resource = {
        ...this.identify(request),
        inputs: plain(request.getProperties()),
        arn: null,
        ...unmanaged,
      };
      note(resource);
      await super.readResource(request, callback);
      resource.arn = this.arnOf(resource);
    }

    override registerResourceOutputs(request: OutputsRequest, callback: Callback): void {
      recording.outputs.set(request.getUrn(), plain(request.getOutputs()));
      super.registerResourceOutputs(request, callback);
    }

    /** Its own: an input of that name is another's. */
    private arnOf({ urn, inputs }: Resource): string | null {
      const arn = "arn" in inputs ? null : this.resources.get(urn)?.state.arn;
      return typeof arn === "string" ? arn : null;
    }

    private identify(
      request: RegisterRequest | ReadRequest,
    ): Pick<Resource, "urn" | "type" | "name" | "parent"> {
      const [parent, type, name] = [request.getParent(), request.getType(), request.getName()];
      return { urn: this.newUrn(parent, type, name), type, name, parent: parent || null };
    }
  }

  return { monitor: new RecordingMonitor(mocks), recording };
}

/** Pulumi's marks on a secret (pulumi/sdk, `specialSigKey` and `specialSecretSig`). */
const [signature, secret] = ["4dabf18193072939515e22adb298388d", "1b47061264138c4ac30d75fd1eb44270"];

const plain = (struct: { toJavaScript(): Record<string, unknown> } | undefined): Record<string, unknown> =>
  (struct ? withoutMarks(struct.toJavaScript()) : {}) as Record<string, unknown>;

function withoutMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (typeof value !== "object" || value === null) return value;
  const fields = value as Record<string, unknown>;
  if (fields[signature] === secret) return withoutMarks(fields.value);
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => name !== signature && !name.startsWith("__"))
      .map(([name, field]) => [name, withoutMarks(field)]),
  );
}
