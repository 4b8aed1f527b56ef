import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";

/** One request as the provider got it. */
export type Received = { headers: IncomingHttpHeaders; body: string };

export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** A provider of tests, over real HTTP on 127.0.0.1. */
export type Provider = {
  /** `http://127.0.0.1:<port>`, or `https://localhost:<port>` */
  origin: string;
  /** What it was asked, in order. */
  received: Received[];
  /** How the next requests are answered. */
  answer: Answer;
  stop(): Promise<void>;
};

/** @param tls a certificate for localhost, and its key, in PEM: the provider then speaks HTTPS */
export async function startProvider(answer: Answer, tls?: { cert: string; key: string }): Promise<Provider> {
  const sockets = new Set<Socket>();
  const server = tls ? createTlsServer(tls) : createServer();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket.on("error", () => {}));
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      provider.received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      provider.answer(response, request);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const provider: Provider = {
    origin: tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
    received: [],
    answer,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return provider;
}
