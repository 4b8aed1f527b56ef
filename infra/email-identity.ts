import { configurationSet, identityName } from "./email.ts";
import { domainOf, isReserved } from "./sender.ts";
import { region, settings } from "./stage.ts";

type DnsRecord = {
  type: "CNAME" | "MX" | "TXT";
  name: $util.Input<string>;
  value: $util.Input<string>;
  priority?: number;
};

const { from, identity: kind, existing, dns } = settings.email;
const domain = domainOf(from);

/**
 * Proves to SES whose sender it is. Nobody can verify a reserved domain: a stage with one sends nothing.
 *
 * @returns the DNS records that are left to be written by hand
 */
export const dnsRecords = existing !== null || isReserved(domain) ? [] : create();

function create(): DnsRecord[] {
  const identity = new aws.sesv2.EmailIdentity("EmailIdentity", {
    emailIdentity: identityName,
    configurationSetName: configurationSet.configurationSetName,
  });
  // SES writes to the address, and its owner follows the link.
  if (kind === "address") return [];

  const mailFrom = `bounce.${domain}`;
  new aws.sesv2.EmailIdentityMailFromAttributes("EmailMailFrom", {
    emailIdentity: identity.emailIdentity,
    mailFromDomain: mailFrom,
    behaviorOnMxFailure: "USE_DEFAULT_VALUE",
  });

  const token = (place: number) =>
    identity.dkimSigningAttributes.apply(({ tokens }) => tokens?.[place] ?? `token${place}`);
  const records: DnsRecord[] = [
    // DKIM: SES always has three keys.
    ...[0, 1, 2].map((place) => ({
      type: "CNAME" as const,
      name: $interpolate`${token(place)}._domainkey.${domain}`,
      value: $interpolate`${token(place)}.dkim.amazonses.com`,
    })),
    { type: "TXT", name: `_dmarc.${domain}`, value: "v=DMARC1; p=none;" },
    { type: "MX", name: mailFrom, value: $interpolate`feedback-smtp.${region}.amazonses.com`, priority: 10 },
    { type: "TXT", name: mailFrom, value: "v=spf1 include:amazonses.com ~all" },
  ];
  if (dns === "manual") return records;
  const zone = sst.aws.dns();
  for (const record of records) zone.createRecord("Email", record, {});
  return [];
}
