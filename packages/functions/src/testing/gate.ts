import { connect, createServer, type Server, type Socket } from "node:net";
import { listen } from "../../../local/src/port.ts";

/** The way to a server, which a test can shut: connections break at once, and new ones do too. */
export type Gate = { port: number; shut(): void; open(): void; close(): Promise<void> };

export async function startGate(target: { host: string; port: number }): Promise<Gate> {
  const sockets = new Set<Socket>();
  let shut = false;
  const server: Server = createServer((inside) => {
    if (shut) {
      inside.resetAndDestroy();
      return;
    }
    const outside = connect(target.port, target.host);
    for (const [socket, other] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  const port = await listen(server, 0, "the gate's port");
  const breakAll = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port,
    shut() {
      shut = true;
      breakAll();
    },
    open() {
      shut = false;
    },
    close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      breakAll();
      return closed;
    },
  };
}
