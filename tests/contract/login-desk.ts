import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Certificate } from "../../packages/local/src/certificates.ts";

/** Who came to log in, and with what. */
export type Visitor = { user: string; password: string };

export type LoginDesk = { port: number; visitors: Visitor[]; stop(): Promise<void> };

/**
 * As much of PostgreSQL, over TLS, as asks for a password in clear text, as RDS does for IAM's tokens.
 *
 * @param admit a session at a server for a visitor whom it lets in, with what the server says first; null refuses
 */
export async function startLoginDesk(
  { certificate, key }: Certificate,
  admit: (visitor: Visitor) => Promise<{ session: Socket; first: Buffer } | null> = async () => null,
): Promise<LoginDesk> {
  const visitors: Visitor[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(async (socket) => {
    sockets.add(socket.on("error", () => {}));
    await next(socket); // SSLRequest
    socket.write("S");
    const secure = new TLSSocket(socket, { isServer: true, cert: certificate, key });
    secure.on("error", () => {});
    const [, user = ""] = /\0user\0([^\0]+)\0/.exec((await next(secure)).toString()) ?? [];
    secure.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3])); // AuthenticationCleartextPassword
    const password = (await next(secure)).subarray(5, -1).toString();
    visitors.push({ user, password });
    const admitted = await admit({ user, password });
    if (admitted) {
      const { session, first } = admitted;
      sockets.add(session.on("error", () => {}));
      secure.write(first);
      secure.pipe(session).pipe(secure);
      return;
    }
    const fields = `SFATAL\0VFATAL\0C28000\0MPAM authentication failed for user "${user}"\0\0`;
    const header = Buffer.from([0x45, 0, 0, 0, 0]); // ErrorResponse
    header.writeUInt32BE(4 + fields.length, 1);
    secure.end(Buffer.concat([header, Buffer.from(fields)]));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    visitors,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** Short messages come whole. */
export const next = async (socket: Socket): Promise<Buffer> => (await once(socket, "data"))[0];
