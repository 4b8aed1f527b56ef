/** A setting of the environment is wrong: which one, and how it must be. */
export class InvalidSetting extends Error {
  override readonly name = "InvalidSetting";
}

/** A port from the environment; 0 takes any free one. Throws `InvalidSetting` when it is none. */
export function portFrom(setting: string, fallback: number): number {
  const given = process.env[setting];
  if (given === undefined || given === "") return fallback;
  const port = Number(given);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new InvalidSetting(`${setting} is ${JSON.stringify(given)}: it must be a port from 0 to 65535`);
  return port;
}
