import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import { type ServerType, serve } from "@hono/node-server";
import { createApp } from "./app.ts";
import type { Context } from "./context.ts";

export type ConsoleOptions = Omit<Context, "token"> & {
  /** 0 for any free port. */
  port: number;
};

export type Console = { readonly url: string; stop: () => Promise<void> };

/**
 * Serves the operator's pages on loopback.
 *
 * @throws the server's own error when the port is taken (`EADDRINUSE`)
 */
export async function startConsole({ port, ...given }: ConsoleOptions): Promise<Console> {
  const app = createApp({ ...given, token: randomBytes(24).toString("base64url") });
  const server = await listening(app.fetch, port);
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${bound}`,
    async stop() {
      // Live pages hold their connection open: it ends with the console.
      if ("closeAllConnections" in server) server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const listening = (fetch: ReturnType<typeof createApp>["fetch"], port: number): Promise<ServerType> =>
  new Promise((resolve, reject) => {
    const server = serve({ fetch, port, hostname: "127.0.0.1" }, () => resolve(server));
    server.once("error", reject);
  });
