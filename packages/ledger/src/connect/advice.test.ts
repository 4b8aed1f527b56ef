import { expect, test } from "vitest";
import { asUnavailable } from "./errors.ts";

const withCode = (code: string, message: string) => Object.assign(new Error(message), { code });

test.each([
  [
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
    "told",
    /a CA that this process does not know \(told\); start it with NODE_EXTRA_CA_CERTS/,
  ],
  [
    "CERT_HAS_EXPIRED",
    "told",
    /a certificate that is not valid now \(told\); renew it, and check this machine's clock$/,
  ],
  [
    "28000",
    "told",
    /refuses the login \(told\); check .+ with IAM, that rds-db:connect is allowed for this user/,
  ],
  ["22023", 'role "owed_sweep" does not exist', /does not have the role .+; run the migrations$/],
  ["42501", 'permission denied to set role "owed_sweep"', /; migrate as that user, or grant it the role$/],
  [
    "53300",
    "told",
    /takes no more connections \(told\); run fewer functions at once, or raise the role's CONNECTION LIMIT/,
  ],
  ["57P05", "told", /does not answer \(told\); check that PostgreSQL runs and is reachable$/],
  ["ECONNREFUSED", "told", /does not answer \(told\); check that PostgreSQL runs and is reachable$/],
])("%s, %s: nothing ran, and there is a way out", (code, told, message) => {
  expect(asUnavailable(withCode(code, told))).toMatchObject({
    certainlyNotRun: true,
    message: expect.stringMatching(message),
  });
});

test("what a role may not do in a statement is no connection's fault", () => {
  expect(asUnavailable(withCode("42501", "permission denied for table subscriber"))).toBeNull();
  expect(asUnavailable(withCode("22023", 'time zone "x" not recognized'))).toBeNull();
});

test("only a login that the server judged counts as refused: with another password it may be tried again", () => {
  for (const code of ["28P01", "28000"])
    expect(asUnavailable(withCode(code, "told"))).toMatchObject({ loginRefused: true });
  expect(asUnavailable(withCode("28000", "no pg_hba.conf entry for host, no encryption"))).toMatchObject({
    loginRefused: false,
  });
  expect(asUnavailable(withCode("53300", "told"))).toMatchObject({ loginRefused: false });
});
