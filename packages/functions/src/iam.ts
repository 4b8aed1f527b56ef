/**
 * A token by which RDS lets `user` in, in place of a password: signed on this machine alone, and valid for 15 minutes. The
 * credentials are looked for anew each time, since they change; the SDK's parts for it are loaded by whoever needs one.
 *
 * @throws when there are no credentials to sign with
 */
export async function signToken({
  host,
  port,
  region,
  user,
}: {
  host: string;
  port: number;
  region: string;
  user: string;
}): Promise<string> {
  const { Signer } = await import("@aws-sdk/rds-signer");
  return new Signer({ hostname: host, port, region, username: user }).getAuthToken();
}
