import { isBuiltin } from "node:module";
import type { Metafile } from "esbuild";
import { type Stage, stages } from "../bundle.ts";

/** What a bundle is made of, by esbuild's own record. */
export type Contents = {
  bytes: number;
  /** Its AWS clients by service, those inside of the SDK's other packages among them. */
  clients: string[];
  /** The largest first. */
  packages: Package[];
  /** The functions whose own sources are in it. */
  stages: Stage[];
  /** Packages that it needs when it is loaded, and does not have. */
  missing: string[];
};

export type Package = {
  name: string;
  bytes: number;
  /** Where its files came from, and in which format. Each beyond the first is another copy. */
  copies: string[];
};

export function contentsOf({ inputs, outputs }: Metafile): Contents {
  const output = Object.values(outputs).find(({ entryPoint }) => entryPoint !== undefined);
  if (!output) throw new Error("esbuild made nothing");
  // What turned out to be unused is recorded as well, without a byte.
  const files = Object.entries(output.inputs).flatMap(([path, { bytesInOutput: bytes }]) =>
    bytes > 0 ? [{ path, bytes, format: inputs[path]?.format }] : [],
  );
  const neededAtOnce = output.imports.filter(({ kind }) => kind !== "dynamic-import");
  return {
    bytes: output.bytes,
    clients: distinct(files.flatMap(({ path }) => clientOf(path) ?? [])),
    packages: packagesOf(files),
    stages: stages.filter((stage) => files.some(({ path }) => path.startsWith(sourcesOf(stage)))),
    missing: distinct(neededAtOnce.map(({ path }) => path).filter((path) => !isBuiltin(path))),
  };
}

export const sourcesOf = (stage: Stage): string => `packages/functions/src/${stage}/`;

const client = /\/@aws-sdk\/(?:client-|nested-clients\/.*submodules\/)([^/]+)\//;
const clientOf = (path: string): string | undefined => client.exec(path)?.[1];

type File = { path: string; bytes: number; format: "cjs" | "esm" | undefined };

/** The last package on a file's path: one may be installed inside of another. */
const inPackage = /^.*node_modules\/(?<name>(?:@[^/]+\/)?[^/]+)/;

function packagesOf(files: readonly File[]): Package[] {
  const found = files.flatMap(({ path, bytes, format }) => {
    const match = inPackage.exec(path);
    const name = match?.groups?.name;
    return match && name !== undefined ? [{ name, folder: match[0], bytes, format }] : [];
  });
  const packages = [...Map.groupBy(found, ({ name }) => name)].map(([name, its]) => ({
    name,
    bytes: its.reduce((sum, { bytes }) => sum + bytes, 0),
    // JSON has no format, and goes with either.
    copies: distinct(its.flatMap(({ folder, format }) => (format ? `${folder} (${format})` : []))),
  }));
  return packages.toSorted((a, b) => b.bytes - a.bytes);
}

const distinct = (names: readonly string[]): string[] => [...new Set(names)].toSorted();
