import { connect, type Socket } from "node:net";
import type { Database } from "../world/database.ts";

/**
 * Takes every connection that PostgreSQL has left, those that the functions had among them; the observer keeps its own.
 * What is returned gives them back. A session has its place before it has said who it is: nobody logs in here.
 */
export async function takeSlots({ sql, server }: Database): Promise<() => Promise<void>> {
  // Both of the observer's, so that it needs no new one.
  await Promise.all([sql`SELECT pg_sleep(0.01)`, sql`SELECT pg_sleep(0.01)`]);
  const taken: Socket[] = [];
  const takeAll = async () => {
    for (let refused = false; !refused; ) {
      const asked = await Promise.all(Array.from({ length: 12 }, () => take(server)));
      refused = asked.some((socket) => socket === null);
      taken.push(...asked.filter((socket) => socket !== null));
    }
  };
  await takeAll();
  await sql`SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE application_name LIKE 'owed-%'`;
  await takeAll();
  return async () => {
    await Promise.all(
      taken.map(
        (socket) =>
          new Promise<void>((closed) => {
            if (socket.closed) return closed();
            socket.once("close", () => closed());
            socket.end();
          }),
      ),
    );
  };
}

/** Begins a session, up to the question for its password; null when PostgreSQL has no place for it. */
function take({ host, port, user, database }: Database["server"]): Promise<Socket | null> {
  const socket = connect({ host, port });
  socket.on("error", () => {});
  return new Promise((resolve) => {
    socket.once("connect", () => socket.write(startup({ user, database })));
    socket.once("data", (answer) => {
      const asked = String.fromCharCode(answer[0] ?? 0) === "R";
      if (!asked) socket.destroy();
      resolve(asked ? socket : null);
    });
    socket.once("close", () => resolve(null));
  });
}

/** The protocol's StartupMessage: its length, version 3.0, names and values, an empty name. */
function startup(parameters: Record<string, string>): Buffer {
  const body = `${Object.entries(parameters).flat().join("\0")}\0\0`;
  const message = Buffer.alloc(8 + Buffer.byteLength(body));
  message.writeInt32BE(message.length, 0);
  message.writeInt32BE(196_608, 4);
  message.write(body, 8);
  return message;
}
