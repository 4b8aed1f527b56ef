import { once } from "node:events";
import { createServer, type Server } from "node:net";

/** Everything local listens here and nowhere else. */
export const LOOPBACK = "127.0.0.1";

/** A port that the local stack was told to use belongs to another program. */
export class PortTaken extends Error {
  override readonly name = "PortTaken";
  readonly port: number;
  /** The setting that chooses another port. */
  readonly setting: string;

  constructor(port: number, setting: string) {
    super(
      `Port ${port} on ${LOOPBACK} is taken by another program. ` +
        `Stop that program, or choose a free port with ${setting} (0 takes any).`,
    );
    this.port = port;
    this.setting = setting;
  }
}

/**
 * Listens on loopback. Takes any `node:net` server, so an HTTP server too.
 *
 * @param port 0 for any free port
 * @param setting what the user sets to choose another port; it stands in the error
 * @returns the port
 * @throws PortTaken
 */
export async function listen(server: Server, port: number, setting: string): Promise<number> {
  server.listen(port, LOOPBACK);
  try {
    await once(server, "listening");
  } catch (error) {
    throw error instanceof Error && "code" in error && error.code === "EADDRINUSE"
      ? new PortTaken(port, setting)
      : error;
  }
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server listens on no TCP port.");
  return address.port;
}

/**
 * A port for a program that cannot be handed a socket: the one asked for if nobody has it, any free one for 0.
 * Nothing holds the port until that program listens, so the program still has to report a failure of its own.
 *
 * @throws PortTaken
 */
export async function freePort(port: number, setting: string): Promise<number> {
  const probe = createServer();
  const free = await listen(probe, port, setting);
  probe.close();
  await once(probe, "close");
  return free;
}
