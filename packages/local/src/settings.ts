/** A port from the environment; 0 takes any free one. Throws when it is none. */
export function portFrom(setting: string, fallback: number): number {
  const given = process.env[setting];
  if (given === undefined || given === "") return fallback;
  const port = Number(given);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`${setting} is ${JSON.stringify(given)}: it must be a port from 0 to 65535`);
  return port;
}
