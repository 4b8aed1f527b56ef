import http from "node:http";
import { listen } from "../port.ts";

/** One request with its whole body read, and the ways to end it. */
export interface Exchange {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  reply(status: number, headers: Readonly<Record<string, string>>, body: string): void;
  /** Resets the connection without an answer: the client sees ECONNRESET. */
  drop(): void;
  /** Whether the client has closed its connection before it got an answer. */
  gone(): boolean;
}

export interface LoopbackServer {
  /** `http://127.0.0.1:<port>` */
  readonly endpoint: string;
  /** Closes the port and every connection, busy ones too. */
  stop(): Promise<void>;
}

/** More than any request of SQS (1 MiB, escaped) or SES (10 MiB, in base64) may have. */
const MAX_BODY_BYTES = 24 * 1024 * 1024;

/** Longer than a client keeps an idle connection, so that it never writes into one that is just closing. */
const KEEP_ALIVE_MS = 75_000;

/**
 * Serves `answer` on 127.0.0.1. An error that `answer` throws is printed and becomes a 500.
 *
 * @param setting the name of the setting that holds the port, for the error when the port is taken
 * @throws PortTaken
 */
export async function serve(
  port: number,
  setting: string,
  answer: (exchange: Exchange) => Promise<void>,
): Promise<LoopbackServer> {
  const server = http.createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    handle(request, response, answer).catch((error: unknown) => {
      console.error(`${setting}: could not answer ${request.method} ${request.url}:`, error);
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end("internal failure of the local stack");
    });
  });
  const actual = await listen(server, port, setting);
  return {
    endpoint: `http://127.0.0.1:${actual}`,
    stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

async function handle(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  answer: (exchange: Exchange) => Promise<void>,
): Promise<void> {
  const body = await readBody(request);
  if (body === undefined) {
    // The client vanished in the middle of its request, or sends more than anybody may.
    response.destroy();
    return;
  }
  await answer({
    method: request.method ?? "GET",
    url: request.url ?? "/",
    headers: request.headers,
    body,
    reply(status, headers, text) {
      response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(text) });
      response.end(text);
    },
    drop() {
      request.socket.resetAndDestroy();
    },
    gone: () => request.socket.destroyed,
  });
}

function readBody(request: http.IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) resolve(undefined);
      else chunks.push(chunk);
    });
    request.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    request.on("error", () => resolve(undefined));
    request.on("close", () => resolve(undefined));
  });
}
