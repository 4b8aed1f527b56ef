/** What is wrong with a connection that could not be made, and the way out. */
export type Advice = { what: string; way: string };

export const absent: Advice = {
  what: "the ledger's database does not answer",
  way: "check that PostgreSQL runs and is reachable",
};
const unknownCa: Advice = {
  what: "the ledger's database has a certificate of a CA that this process does not know",
  way: "start it with NODE_EXTRA_CA_CERTS naming the CA's file",
};
const otherHost: Advice = {
  what: "the ledger's database has a certificate for another host",
  way: "link the Database by a name that its certificate has, on RDS the endpoint",
};
const outOfDate: Advice = {
  what: "the ledger's database has a certificate that is not valid now",
  way: "renew it, and check this machine's clock",
};
const noTls: Advice = {
  what: "the ledger's database broke off before TLS",
  way: "switch TLS on there, or link the Database with tls 'off' where nobody else is on the line",
};
const tlsAlone: Advice = {
  what: "the ledger's database takes no connection without TLS",
  way: "link the Database with tls 'verify'",
};
export const refused: Advice = {
  what: "the ledger's database refuses the login",
  way: "check the linked Database's user and password or, with IAM, that rds-db:connect is allowed for this user and that the migrations have run",
};
export const noPassword: Advice = {
  what: "there is no password for the ledger's database",
  way: "check this process's AWS credentials",
};
const otherDatabase: Advice = {
  what: "the ledger's database is not on that server",
  way: "check the linked Database's name",
};
const noRole: Advice = {
  what: "the ledger's database does not have the role that this process works as",
  way: "run the migrations",
};
const notTakenOn: Advice = {
  what: "the ledger's database does not let the linked user take on the role that this process works as",
  way: "migrate as that user, or grant it the role",
};
const tooMany: Advice = {
  what: "the ledger's database takes no more connections",
  way: "run fewer functions at once, or raise the role's CONNECTION LIMIT or max_connections",
};

/** By Node's codes for TLS, and PostgreSQL's SQLSTATEs. All of them come before any statement runs. */
const byCode = new Map<string, Advice>([
  ["UNABLE_TO_GET_ISSUER_CERT", unknownCa],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", unknownCa],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", unknownCa],
  ["SELF_SIGNED_CERT_IN_CHAIN", unknownCa],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", unknownCa],
  ["CERT_UNTRUSTED", unknownCa],
  ["ERR_TLS_CERT_ALTNAME_INVALID", otherHost],
  ["CERT_HAS_EXPIRED", outOfDate],
  ["CERT_NOT_YET_VALID", outOfDate],
  ["28000", refused], // invalid_authorization_specification
  ["28P01", refused], // invalid_password
  ["3D000", otherDatabase], // invalid_catalog_name
  ["53300", tooMany], // too_many_connections
]);

/** Where the code alone does not say it. The first is a server that answered No to TLS: the driver goes on regardless. */
const byMessage: readonly (readonly [code: string, part: RegExp, advice: Advice])[] = [
  ["ECONNRESET", /before secure TLS connection/, noTls],
  ["28000", /no encryption/, tlsAlone],
  ["22023", /^role ".+" does not exist/, noRole], // invalid_parameter_value
  ["42501", /^permission denied to set role/, notTakenOn], // insufficient_privilege
];

/** What to do about a connection that could not be made; null about any other error. */
export function adviceOn(error: unknown): Advice | null {
  if (!(error instanceof Error && "code" in error && typeof error.code === "string")) return null;
  const { code, message } = error;
  const told = byMessage.find(([known, part]) => known === code && part.test(message));
  return told?.[2] ?? byCode.get(code) ?? null;
}
