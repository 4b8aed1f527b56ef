import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type BuildFolders, type BuildInput, buildFunction } from "./build-function.ts";
import { account } from "./computed.ts";
import type { FunctionBuild } from "./synthesis.ts";

/**
 * SST's components ask SST's command line over HTTP for what they can't know: this answers in its place, on loopback.
 * Returns the address and the list that each function's build is added to.
 */
export async function startRpc(folders: BuildFolders): Promise<{ url: string; functions: FunctionBuild[] }> {
  const functions: FunctionBuild[] = [];
  const note = ({ functionID, handler, links, copyFiles }: BuildInput, bytes: number | null) =>
    functions.push({ id: functionID, handler, links, bytes, copyFiles: copyFiles.map(({ to }) => to) });

  const methods: Record<string, (input: never) => Promise<unknown>> = {
    "Provider.Aws.Bootstrap": async ({ region }: { region: string }) => ({
      version: 5,
      asset: `sst-asset-${region}`,
      state: `sst-state-${region}`,
      assetEcrRegistryId: account,
      assetEcrUrl: `${account}.dkr.ecr.${region}.amazonaws.com/sst-asset`,
    }),
    "Provider.Aws.Appsync": async () => ({ http: "appsync.local", realtime: "appsync-realtime.local" }),
    "Runtime.Build": async (input: BuildInput) => {
      const { handler, out, bytes } = await buildFunction(folders, input);
      note(input, bytes);
      return { handler, out, errors: [], sourcemaps: [] };
    },
    /** In dev the functions run on the developer's machine. */
    "Runtime.AddTarget": async (input: BuildInput) => {
      note(input, null);
      return true;
    },
  };

  async function answer(request: IncomingMessage): Promise<object> {
    const { method, params } = JSON.parse(await text(request)) as { method: string; params: [never] };
    const run = methods[method];
    if (!run)
      return {
        error: `SST asks for ${method}, which has no answer here; give it one in tests/infra/synth/rpc.ts`,
      };
    try {
      return { result: await run(params[0]) };
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }

  const server = createServer((request, response) => {
    answer(request).then((said) =>
      response.setHeader("content-type", "application/json").end(JSON.stringify(said)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, functions };
}
