import { expect, test } from "vitest";
import { overBudget } from "../../infra/bundles/budget.ts";
import { contentsOf } from "../../infra/bundles/contents.ts";

type Files = Record<string, { bytes?: number; format?: "cjs" | "esm" }>;
type Import = { path: string; kind: "import-statement" | "require-call" | "dynamic-import" };

/** esbuild's record of a bundle that has these files beside those of a right one for ingest. */
function recordOf(files: Files = {}, imports: Import[] = []) {
  const all: Files = {
    "packages/functions/src/ingest/handler.ts": {},
    "node_modules/@aws-sdk/client-sqs/dist-es/SQSClient.js": {},
    ...files,
  };
  const sizes = Object.entries(all).map(([path, { bytes = 100 }]) => [path, { bytesInOutput: bytes }]);
  const inputs = Object.entries(all).map(([path, { format = "esm" }]) => [
    path,
    { bytes: 1, imports: [], format },
  ]);
  return {
    inputs: Object.fromEntries(inputs),
    outputs: {
      "bundle.mjs": {
        bytes: Object.values(all).reduce((sum, { bytes = 100 }) => sum + bytes, 0),
        inputs: Object.fromEntries(sizes),
        imports: imports.map((each) => ({ ...each, external: true })),
        exports: ["handler"],
        entryPoint: "packages/functions/src/ingest/handler.ts",
      },
    },
  };
}

const faultsOf = (files: Files, imports: Import[] = []) =>
  overBudget("ingest", contentsOf(recordOf(files, imports)));

test("a bundle within its budget has no faults", () => {
  expect(faultsOf({})).toEqual([]);
});

test("what esbuild found unused does not count", () => {
  const unused = { bytes: 0 };
  expect(
    faultsOf({
      "packages/functions/src/sweep/plan.ts": unused,
      "node_modules/@aws-sdk/client-ses/dist-es/SESClient.js": unused,
      "node_modules/a/node_modules/valibot/index.js": unused,
      "node_modules/valibot/index.js": {},
    }),
  ).toEqual([]);
});

test("too many bytes are a fault, and so is nothing but one byte less", () => {
  const library = "node_modules/library/index.js";
  expect(faultsOf({ [library]: { bytes: 1_500_000 - 200 } })).toEqual([]);
  expect(faultsOf({ [library]: { bytes: 1_500_001 - 200 } })).toEqual([
    "ingest has 1500001 bytes where 1500000 are the most; the largest package in it is library with 1499801",
  ]);
});

test.each([
  ["of its own", "node_modules/@aws-sdk/client-ses/dist-es/SESClient.js", "ses"],
  ["inside of the SDK", "node_modules/@aws-sdk/nested-clients/dist-es/submodules/sts/STSClient.js", "sts"],
])("an AWS client %s that the function does not call is a fault", (_, path, client) => {
  expect(faultsOf({ [path]: {} })).toEqual([`ingest has the AWS client of ${client}, and does not call it`]);
});

test("so is one that it calls and that is not there", () => {
  expect(faultsOf({ "node_modules/@aws-sdk/client-sqs/dist-es/SQSClient.js": { bytes: 0 } })).toEqual([
    "ingest calls sqs, and does not have its AWS client",
  ]);
});

test("sources of another function are a fault", () => {
  expect(faultsOf({ "packages/functions/src/sweep/plan.ts": {} })).toEqual([
    "ingest has sources of another function: packages/functions/src/sweep/",
  ]);
});

test("a second copy of a package is a fault, and so is the same one in both formats", () => {
  const first = "node_modules/valibot/index.js";
  expect(faultsOf({ [first]: {}, "node_modules/a/node_modules/valibot/index.js": {} })).toEqual([
    "ingest has valibot more than once: node_modules/a/node_modules/valibot (esm), node_modules/valibot (esm)",
  ]);
  expect(faultsOf({ [first]: {}, "node_modules/valibot/index.cjs": { format: "cjs" } })).toEqual([
    "ingest has valibot more than once: node_modules/valibot (cjs), node_modules/valibot (esm)",
  ]);
});

test("a package that another function alone needs is a fault", () => {
  expect(faultsOf({ "node_modules/liquidjs/dist/liquid.node.mjs": {} })).toEqual([
    "ingest has liquidjs, which deliver alone needs",
  ]);
});

test("a package that is only loaded with the bundle is a fault; what Node has, or is asked for later, is none", () => {
  const imports: Import[] = [
    { path: "valibot", kind: "import-statement" },
    { path: "sharp", kind: "require-call" },
    { path: "node:fs", kind: "import-statement" },
    { path: "crypto", kind: "require-call" },
    { path: "@aws-sdk/credential-provider-ini", kind: "dynamic-import" },
  ];
  expect(faultsOf({}, imports)).toEqual([
    "ingest imports sharp when it is loaded, and does not have it",
    "ingest imports valibot when it is loaded, and does not have it",
  ]);
});
