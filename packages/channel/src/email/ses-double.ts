import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A test double that speaks SES v1's Query protocol over real HTTP on 127.0.0.1. */
export type SesDouble = {
  endpoint: string;
  /** What each request asked for, in order. */
  received: URLSearchParams[];
  /** How the next requests are answered. Accepts with message id `m-1`, `m-2`, … until it is set. */
  answer: (response: ServerResponse, request: IncomingMessage) => void;
  stop: () => Promise<void>;
};

export async function startSesDouble(): Promise<SesDouble> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      double.received.push(new URLSearchParams(Buffer.concat(chunks).toString()));
      double.answer(response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const double: SesDouble = {
    endpoint: `http://127.0.0.1:${port}`,
    received: [],
    answer: (response) => accept(`m-${double.received.length}`)(response),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return double;
}

const xmlns = "http://ses.amazonaws.com/doc/2010-12-01/";
const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

export function accept(messageId: string): (response: ServerResponse) => void {
  return reply(
    200,
    `<SendEmailResponse xmlns="${xmlns}"><SendEmailResult><MessageId>${messageId}</MessageId></SendEmailResult>` +
      "<ResponseMetadata><RequestId>r-1</RequestId></ResponseMetadata></SendEmailResponse>",
  );
}

/** SES's own error document. */
export function fail(status: number, code: string, message: string, headers: Record<string, string> = {}) {
  const escaped = message.replace(/[&<>]/g, (character) => entities[character] ?? "");
  const type = status < 500 ? "Sender" : "Receiver";
  return reply(
    status,
    `<ErrorResponse xmlns="${xmlns}"><Error><Type>${type}</Type><Code>${code}</Code><Message>${escaped}</Message>` +
      "</Error><RequestId>r-1</RequestId></ErrorResponse>",
    headers,
  );
}

/** Any answer at all. */
export function reply(status: number, body: string, headers: Record<string, string> = {}) {
  return (response: ServerResponse): void => {
    response.writeHead(status, { "content-type": "text/xml", ...headers });
    response.end(body);
  };
}
