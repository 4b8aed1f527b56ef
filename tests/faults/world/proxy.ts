import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A TCP proxy before PostgreSQL: the network, which a test can break. It starts open. */
export type PostgresProxy = {
  port: number;
  /**
   * How often something was in a fault's way: a connection that was refused, cut or ended by PostgreSQL, bytes that
   * never arrived.
   */
  readonly hits: number;
  /** How often PostgreSQL has answered with each SQLSTATE. */
  readonly errors: ReadonlyMap<string, number>;
  /** Forwards. Connections that were silenced are reset, as by a peer that has forgotten them. */
  open(): void;
  /** Resets the connections there are, and each new one at once. */
  refuse(): void;
  /**
   * Half open: connections are accepted and stay, and nothing arrives in either direction, not even their end. With
   * `{ answers: "only" }` what the client sends arrives: a statement runs, and its answer is lost.
   */
  silence(lost?: { answers: "only" }): void;
  /** Resets the connections there are, and goes on forwarding new ones. */
  cut(): void;
  /** Ends the connections there are, in good order. Resolves when the clients' machine has been told. */
  hangUp(): Promise<void>;
  /** Forwards nothing more of the connections there are, as a NAT that has forgotten them. New ones work. */
  forget(): void;
  /** Resets all, and listens no more. */
  stop(): Promise<void>;
};

type Mode = "open" | "refused" | "silent" | "answers lost";
type Connection = { client: Socket; server: Socket | undefined; silenced: boolean; forgotten: boolean };

/** In an ErrorResponse of the protocol: its severity, then its code. */
const sqlstate = /\0V(?:ERROR|FATAL|PANIC)\0C(\w{5})\0/g;

/** Listens on a free port of 127.0.0.1. @throws when it can't */
export async function startProxy(target: { host: string; port: number }): Promise<PostgresProxy> {
  let mode: Mode = "open";
  let hits = 0;
  const errors = new Map<string, number>();
  const connections = new Set<Connection>();

  const reset = (connection: Connection) => {
    connections.delete(connection);
    connection.client.resetAndDestroy();
    connection.server?.resetAndDestroy();
  };
  const resetAll = () => {
    for (const connection of connections) {
      hits += 1;
      reset(connection);
    }
  };
  /** What has lost some bytes can't go on with those that follow. */
  const resetSilenced = () => {
    for (const connection of connections) if (connection.silenced) reset(connection);
  };

  /** Bytes of one direction, no faster than they are taken. */
  const forward = (connection: Connection, from: Socket, to: Socket, arrives: () => boolean) => {
    from.on("data", (chunk) => {
      if (connection.forgotten) hits += 1;
      else if (!arrives()) {
        connection.silenced = true;
        hits += 1;
      } else if (!to.write(chunk)) {
        from.pause();
        to.once("drain", () => from.resume());
      }
    });
  };

  const ended = (connection: Connection, other: Socket | undefined) => {
    // Nobody hears of an end in silence: the other side's session stays.
    if (connection.forgotten) return;
    if (mode === "silent" || mode === "answers lost") connection.silenced = true;
    else {
      connections.delete(connection);
      other?.end();
    }
  };

  const accept = (client: Socket) => {
    const server = mode === "silent" ? undefined : connect(target);
    const connection: Connection = { client, server, silenced: server === undefined, forgotten: false };
    connections.add(connection);
    client.setNoDelay();
    client.on("error", () => {});
    client.on("close", () => ended(connection, server));
    if (!server) {
      hits += 1;
      client.resume();
      return;
    }
    server.setNoDelay();
    server.on("error", () => {
      // Nobody is there.
      if (!client.destroyed) hits += 1;
    });
    server.on("end", () => {
      if (!client.destroyed && !client.readableEnded) hits += 1;
    });
    server.on("close", () => ended(connection, client));
    forward(connection, client, server, () => mode !== "silent");
    server.on("data", (chunk) => {
      for (const [, code = ""] of chunk.toString("latin1").matchAll(sqlstate))
        errors.set(code, (errors.get(code) ?? 0) + 1);
    });
    forward(connection, server, client, () => mode === "open");
  };

  const listener = createServer((client) => {
    if (mode !== "refused") return accept(client);
    hits += 1;
    client.on("error", () => {});
    client.resetAndDestroy();
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");

  return {
    port: (listener.address() as AddressInfo).port,
    get hits() {
      return hits;
    },
    errors,
    open() {
      mode = "open";
      resetSilenced();
    },
    refuse() {
      mode = "refused";
      resetAll();
    },
    silence(lost) {
      resetSilenced();
      mode = lost ? "answers lost" : "silent";
    },
    cut: resetAll,
    async hangUp() {
      await Promise.all([...connections].map(({ client }) => new Promise<void>((told) => client.end(told))));
    },
    forget() {
      for (const connection of connections) connection.forgotten = true;
    },
    async stop() {
      mode = "refused";
      resetAll();
      listener.close();
      await once(listener, "close");
    },
  };
}
