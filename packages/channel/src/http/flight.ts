import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe } from "node:diagnostics_channel";
import { ClientRequest } from "node:http";
import { TLSSocket } from "node:tls";

/**
 * How far a send has come, which decides what its failure means:
 * - `preparing`: endpoint, credentials and signature; no HTTP request exists
 * - `handed over`: the HTTP handler has it, and nothing more is known
 * - `connecting`: the request waits for a socket, or its socket is not connected (TLS: not secure) yet
 * - `written`: a connected socket has it; how much of it has left this machine, nobody can tell
 */
type Stage = "preparing" | "handed over" | "connecting" | "written";

/** Of a command of the AWS SDK: where its request is handed on. */
export type Handing = {
  middlewareStack: {
    add(
      middleware: <Args, Output>(next: (args: Args) => Promise<Output>) => (args: Args) => Promise<Output>,
      options: { name: string; step: "deserialize"; priority: "low" },
    ): void;
  };
};

/** One send on its way. What is not certainly unsent is taken as sent, perhaps. */
export class Flight {
  stage: Stage = "preparing";

  get certainlyUnsent(): boolean {
    return this.stage === "preparing" || this.stage === "connecting";
  }

  /** Runs `send` so that the HTTP request it makes is noted on this flight. */
  follow<T>(send: () => Promise<T>): Promise<T> {
    return flights.run(this, send);
  }

  /** Marks the moment when the SDK hands the command's request to its HTTP handler; after `signal`, never. */
  watch(command: Handing, signal: AbortSignal): void {
    command.middlewareStack.add(
      (next) => (args) => {
        signal.throwIfAborted();
        this.stage = "handed over";
        return next(args);
      },
      { name: "flight", step: "deserialize", priority: "low" },
    );
  }
}

const flights = new AsyncLocalStorage<Flight>();

// The SDK's handler does not show its `ClientRequest`; Node's own channel does, in the caller's context.
// Requests for credentials are made before the hand-over and are no send.
subscribe("http.client.request.created", (message) => {
  const flight = flights.getStore();
  const request = requestOf(message);
  if (flight?.stage !== "handed over" || request === null) return;
  flight.stage = "connecting";
  request.once("socket", (socket) => {
    const written = () => {
      flight.stage = "written";
    };
    // Nothing has been given to the socket yet. A kept-alive one is connected, and gets it now; a new one holds
    // it back until it is connected; one that has failed already never gets it.
    if (socket.destroyed) return;
    if (!socket.connecting) written();
    else socket.once(socket instanceof TLSSocket ? "secureConnect" : "connect", written);
  });
});

function requestOf(message: unknown): ClientRequest | null {
  if (typeof message !== "object" || message === null || !("request" in message)) return null;
  return message.request instanceof ClientRequest ? message.request : null;
}
