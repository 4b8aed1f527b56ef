import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";

// X.509 certificates (RFC 5280) of one's own, with keys that nobody else has: no more of DER (X.690) than they take.

/** A certificate and its key, in PEM. */
export type Certificate = { certificate: string; key: string };

/** A certificate authority, which signs servers' certificates. */
export type Authority = Certificate & {
  /** A certificate for a server of these names, or IPv4 addresses; valid from yesterday on for a year. */
  issue(host: string, ...more: string[]): Certificate;
};

export function createAuthority(name: string): Authority {
  const { publicKey, privateKey } = generateKeys();
  const isCa = extension([2, 5, 29, 19], sequence(der(0x01, Buffer.of(0xff))));
  return {
    certificate: certify(name, name, publicKey, privateKey, isCa),
    key: pem(privateKey),
    issue(host, ...more) {
      const server = generateKeys();
      const names = extension([2, 5, 29, 17], sequence(...[host, ...more].map(alternativeName)));
      return {
        certificate: certify(name, host, server.publicKey, privateKey, names),
        key: pem(server.privateKey),
      };
    },
  };
}

const generateKeys = () => generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const pem = (key: KeyObject) => key.export({ type: "pkcs8", format: "pem" }).toString();

/** Tag, length, value. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), value]);
  if (length < 0x100) return Buffer.concat([Buffer.of(tag, 0x81, length), value]);
  return Buffer.concat([Buffer.of(tag, 0x82, length >> 8, length & 0xff), value]);
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const bits = (value: Buffer) => der(0x03, Buffer.of(0), value);

function oid([first = 0, second = 0, ...rest]: readonly number[]): Buffer {
  const base128 = (number: number): number[] =>
    number < 0x80 ? [number] : [...base128(number >> 7).map((byte) => byte | 0x80), number & 0x7f];
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

const ecdsaWithSha256 = sequence(oid([1, 2, 840, 10045, 4, 3, 2]));

/** One relative name, the common one. */
const nameOf = (name: string) =>
  sequence(der(0x31, sequence(oid([2, 5, 4, 3]), der(0x0c, Buffer.from(name)))));

/** A host's name, or its address: an IPv4 one is its four bytes. */
const alternativeName = (host: string) =>
  isIPv4(host) ? der(0x87, Buffer.from(host.split(".").map(Number))) : der(0x82, Buffer.from(host));

const time = (days: number) => {
  const at = new Date(Date.now() + days * 86_400_000).toISOString();
  return der(0x17, Buffer.from(`${at.slice(2).replace(/[-:T]|\..*/g, "")}Z`));
};

const extension = (id: readonly number[], value: Buffer) =>
  der(0xa3, sequence(sequence(oid(id), der(0x04, value))));

function certify(
  issuer: string,
  subject: string,
  subjectKey: KeyObject,
  issuerKey: KeyObject,
  extensions: Buffer,
): string {
  const version3 = der(0xa0, der(0x02, Buffer.of(2)));
  const serial = der(0x02, Buffer.of(1), randomBytes(8));
  const validity = sequence(time(-1), time(365));
  const subjectKeyInfo = subjectKey.export({ type: "spki", format: "der" });
  const signed = sequence(
    ...[version3, serial, ecdsaWithSha256, nameOf(issuer), validity, nameOf(subject), subjectKeyInfo],
    extensions,
  );
  const whole = sequence(signed, ecdsaWithSha256, bits(sign("sha256", signed, issuerKey)));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n");
}
