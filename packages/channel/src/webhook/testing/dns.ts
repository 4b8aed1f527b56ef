import { createSocket } from "node:dgram";
import { once } from "node:events";

/** A DNS server of tests on 127.0.0.1: what it answers to a name and a type, or nothing at all. */
export type DnsDouble = { server: string; asked: string[]; stop(): Promise<void> };

/** Addresses as bytes, an error code (RFC 1035, section 4.1.1), or silence. */
export type DnsAnswer = { addresses: readonly (readonly number[])[] } | { error: number } | "silence";

const typeNames = new Map([
  [1, "A"],
  [28, "AAAA"],
]);

export async function startDnsDouble(answer: (name: string, type: string) => DnsAnswer): Promise<DnsDouble> {
  const socket = createSocket("udp4");
  const asked: string[] = [];
  socket.on("message", (query, { port }) => {
    const { name, end } = nameAt(query, 12);
    const type = query.readUInt16BE(end);
    const typeName = typeNames.get(type) ?? `${type}`;
    asked.push(`${typeName} ${name}`);
    const given = answer(name, typeName);
    if (given === "silence") return;
    const [error, addresses] = "error" in given ? [given.error, []] : [0, given.addresses];
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(0x8180 | error, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(addresses.length, 6);
    const records = addresses.map((bytes) => {
      const record = Buffer.alloc(12);
      record.writeUInt16BE(0xc00c, 0); // the question's name
      record.writeUInt16BE(type, 2);
      record.writeUInt16BE(1, 4);
      record.writeUInt16BE(bytes.length, 10);
      return Buffer.concat([record, Buffer.from(bytes)]);
    });
    socket.send(Buffer.concat([head, query.subarray(12, end + 4), ...records]), port, "127.0.0.1");
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    server: `127.0.0.1:${socket.address().port}`,
    asked,
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function nameAt(query: Buffer, start: number): { name: string; end: number } {
  const labels: string[] = [];
  let at = start;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join("."), end: at + 1 };
}
