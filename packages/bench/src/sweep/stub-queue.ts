// A queue that takes everything and keeps nothing, in a process of its own: `node stub-queue.ts <service time in ms>`.
// It tells its port by IPC, and ends with whoever started it.

import { hash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

type Entry = { Id: string; MessageBody: string };

const serviceTime = Number(process.argv[2] ?? 0);
let accepted = 0;

function accept(body: string) {
  accepted += 1;
  return {
    MessageId: String(accepted).padStart(36, "0"),
    MD5OfMessageBody: hash("md5", body),
    SequenceNumber: String(accepted).padStart(20, "1"),
  };
}

/** The answer to SendMessage or SendMessageBatch (Amazon SQS API reference); the SDK compares the digests. */
function answer(action: string, request: { Entries: Entry[] } & Entry): unknown {
  if (action === "AmazonSQS.SendMessage") return accept(request.MessageBody);
  if (action === "AmazonSQS.SendMessageBatch")
    return {
      Successful: request.Entries.map(({ Id, MessageBody }) => ({ Id, ...accept(MessageBody) })),
      Failed: [],
    };
  throw new Error(`the stub of SQS does not know ${action}`);
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => request.once("end", resolve));
  const given = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  const text = JSON.stringify(answer(String(request.headers["x-amz-target"]), given));
  if (serviceTime > 0) await sleep(serviceTime);
  response.writeHead(200, {
    "content-type": "application/x-amz-json-1.0",
    "content-length": Buffer.byteLength(text),
    "x-amzn-requestid": "stub",
  });
  response.end(text);
}

const server = createServer({ keepAliveTimeout: 75_000 }, (request, response) => {
  serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.(typeof address === "object" && address ? address.port : 0);
});
process.once("disconnect", () => process.exit());
