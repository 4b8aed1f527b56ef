import { createRequire, Module } from "node:module";
import { join } from "node:path";
import type { Plugin } from "esbuild";

/** Other clouds' providers, which SST's components import and this program never reaches: half a second of loading. */
const providers = /^(@pulumi\/(cloudflare|command|docker-build)|@pulumiverse\/vercel)$/;

/** Components import the providers as empty modules; and SST's code for CloudFront is not minified when it is loaded. */
export const leaveOutUnused: Plugin = {
  name: "leave-out-unused",
  setup(context) {
    context.onResolve({ filter: providers }, ({ path }) => ({ path, namespace: "unused" }));
    context.onLoad({ filter: /.*/, namespace: "unused" }, () => ({ contents: "module.exports = {};" }));
    context.onLoad({ filter: /util\/minify\.ts$/ }, () => ({
      contents: "export const minify = String.raw;",
    }));
  },
};

/** Parts of Pulumi that load compilers and package managers: to run itself, and to send functions to its engine. */
const parts = {
  "@pulumi/pulumi/automation": {},
  "@pulumi/pulumi/runtime/closure/codePaths": {},
  "@pulumi/pulumi/runtime/closure/serializeClosure": {
    serializeFunction: async () => ({ text: "", containsSecrets: false }),
  },
};

/** To be called before Pulumi is loaded: without its unused parts it takes half the time. */
export function trimPulumi(platform: string): void {
  const load = createRequire(join(platform, "package.json"));
  for (const [specifier, exports] of Object.entries(parts)) {
    const id = load.resolve(specifier);
    load.cache[id] = Object.assign(new Module(id), { exports, loaded: true });
  }
  // It would keep a stack of each promise.
  Object.assign(load("@pulumi/pulumi/runtime/debuggable"), {
    debuggablePromise: (promise: Promise<unknown>) => promise,
  });
}
