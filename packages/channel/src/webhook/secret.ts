import { hkdfSync } from "node:crypto";
import { ConfigurationError } from "../errors.ts";

/** What merchants' secrets are derived from, the current one first; the others are signed with during a rotation. */
export type RootKeys = readonly [Buffer, ...Buffer[]];

const prefix = "whsec_";
/** Standard Webhooks: a secret has 24 to 64 bytes. */
const [fewest, most] = [24, 64];

/**
 * The root keys of a setting: `whsec_<base64>`, one or more, separated by spaces.
 * @throws ConfigurationError naming which one is wrong and why, and never the key.
 */
export function parseRootKeys(value: string): RootKeys {
  const [current = "", ...earlier] = value.trim().split(/\s+/);
  if (current === "") throw unusable("there is none");
  return [parseKey(current, 0), ...earlier.map((key, index) => parseKey(key, index + 1))];
}

function parseKey(text: string, index: number): Buffer {
  const which = `key ${index + 1}`;
  if (!text.startsWith(prefix)) throw unusable(`${which} does not begin with ${prefix}`);
  const base64 = text.slice(prefix.length);
  const key = Buffer.from(base64, "base64");
  // Buffer drops what is no base64, so that a mistyped key would sign as another one.
  if (key.toString("base64") !== base64) throw unusable(`${which} is not base64`);
  if (key.length < fewest || key.length > most) {
    throw unusable(`${which} has ${key.length} bytes, not ${fewest} to ${most}`);
  }
  return key;
}

const unusable = (what: string) =>
  new ConfigurationError(
    `The webhooks' root keys are unusable: ${what}. Set one or more, separated by spaces, each ${prefix} and ` +
      `the base64 of 32 random bytes: echo ${prefix}$(openssl rand -base64 32)`,
  );

/**
 * A merchant's signing secret (`whsec_<base64>`) from each root key, in their order: HKDF-SHA-256 with the merchant's
 * id as its info, 32 bytes. Nothing is stored, and one merchant's secret tells nothing of another's.
 */
export function derivedSecrets(keys: RootKeys, merchantId: string): string[] {
  return keys.map((key) => {
    const secret = hkdfSync("sha256", key, "", merchantId, 32);
    return `${prefix}${Buffer.from(secret).toString("base64")}`;
  });
}

/**
 * The secrets that a merchant's webhooks are signed with: the first is the current one, which the merchant is given.
 * @throws ConfigurationError as `parseRootKeys` does.
 */
export function secretsOf(rootKeys: string, merchantId: string): string[] {
  return derivedSecrets(parseRootKeys(rootKeys), merchantId);
}
