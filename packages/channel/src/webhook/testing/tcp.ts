import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { Authority } from "../../../../local/src/certificates.ts";

type Place = {
  server?: Server;
  /** What `each` is called for: `secureConnection` with a TLS server. */
  event?: string;
  host?: string;
  port?: number;
};

/** Servers of tests that speak TCP or TLS and do with it what they like. */
export class TcpDoubles {
  readonly #stops: (() => void)[] = [];

  /** A server that does `each` with every connection. Returns its port. */
  async listening(
    each: (socket: Socket) => unknown,
    { server = createServer(), event = "connection", host = "127.0.0.1", port = 0 }: Place = {},
  ): Promise<number> {
    const sockets = new Set<Socket>();
    server.on("connection", (socket: Socket) => sockets.add(socket.on("error", () => {})));
    server.on(event, (socket: Socket) => each(socket.on("error", () => {})));
    server.on("tlsClientError", () => {});
    server.listen(port, host);
    await once(server, "listening");
    this.#stops.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return (server.address() as AddressInfo).port;
  }

  /** A server with a certificate for localhost, which answers each request with these bytes. Returns its port. */
  answering(bytes: string, authority: Authority): Promise<number> {
    const { certificate: cert, key } = authority.issue("localhost");
    const each = (socket: Socket) => socket.once("data", () => socket.write(bytes));
    return this.listening(each, { server: createTlsServer({ cert, key }), event: "secureConnection" });
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }
}
