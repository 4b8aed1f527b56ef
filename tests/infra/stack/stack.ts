import * as v from "valibot";
import { type GivenSettings, type Settings, settingsOf } from "../../../infra/settings.ts";
import { givenOf } from "../../../infra/stages.ts";
import type { FunctionBuild, Resource, Synthesis } from "../synth/synthesis.ts";

/** A resource and its inputs, parsed. */
export type Seen<Inputs> = Omit<Resource, "inputs"> & { inputs: Inputs };

/** The id that a resource has under mocks, when AWS would give it one that means nothing. */
export const idOf = (name: string): string => `${name}-id`;

/** A synthesis with the questions that the rules ask of it. */
export class Stack {
  readonly synthesis: Synthesis;
  readonly #overrides: GivenSettings;
  readonly #byUrn: Map<string, Resource>;
  /** What the platform team asked for. */
  readonly settings: Settings;

  /** `overrides`: what was merged over the stage's own settings. */
  constructor(synthesis: Synthesis, overrides: GivenSettings) {
    this.synthesis = synthesis;
    this.#overrides = overrides;
    this.#byUrn = new Map(synthesis.resources.map((resource) => [resource.urn, resource]));
    const { stage } = synthesis.app;
    this.settings = settingsOf(stage, givenOf(stage), JSON.stringify(overrides));
  }

  /** The same stage with something otherwise. */
  with(change: (synthesis: Synthesis) => void): Stack {
    const synthesis = structuredClone(this.synthesis);
    change(synthesis);
    return new Stack(synthesis, this.#overrides);
  }

  get stage(): string {
    return this.synthesis.app.stage;
  }

  get production(): boolean {
    return this.stage === "production" && !this.dev;
  }

  /** Under `sst dev`: the functions run on the developer's machine, beside a local database. */
  get dev(): boolean {
    return this.synthesis.dev;
  }

  get app(): Synthesis["app"] {
    return this.synthesis.app;
  }

  get functions(): FunctionBuild[] {
    return this.synthesis.functions;
  }

  get outputs(): Record<string, unknown> {
    return this.synthesis.outputs;
  }

  get resources(): Resource[] {
    return this.synthesis.resources;
  }

  all(type: string): Resource[] {
    return this.resources.filter((resource) => resource.type === type);
  }

  /** All of a type, their inputs parsed. Throws naming the resource and the input that is not as expected. */
  parsed<Schema extends v.GenericSchema>(type: string, schema: Schema): Seen<v.InferOutput<Schema>>[] {
    return this.all(type).map((resource) => {
      const parsed = v.safeParse(schema, resource.inputs);
      if (parsed.success) return { ...resource, inputs: parsed.output };
      const [issue] = parsed.issues;
      throw new Error(`${resource.name}: ${issue ? v.getDotPath(issue) : "its inputs"}: ${issue?.message}`);
    });
  }

  find(urn: string): Resource | undefined {
    return this.#byUrn.get(urn);
  }

  byArn(arn: string): Resource | undefined {
    return this.resources.find((resource) => resource.arn === arn);
  }

  /** The component at the top of a resource's line of parents, or the resource itself. */
  topOf(resource: Resource): Resource {
    const parent = resource.parent === null ? undefined : this.find(resource.parent);
    return parent && parent.type !== "pulumi:pulumi:Stack" ? this.topOf(parent) : resource;
  }

  /** URNs of all that must stand before a resource, near and far: their parents' and children's own needs included. */
  needs(resource: Resource, found = new Set<string>()): Set<string> {
    for (const urn of resource.dependencies) {
      if (found.has(urn)) continue;
      found.add(urn);
      const needed = this.find(urn);
      if (needed) this.needs(needed, found);
    }
    return found;
  }
}
