import { settings } from "./stage.ts";

/** The addresses of the network. */
const inside = "10.0.0.0/16";

/**
 * Two zones, and in them the database and the functions that ask it, none of which the internet reaches. The way out is
 * by interface endpoints (endpoints.ts), or by NAT when webhooks are on: a gateway in each zone, $65 a month (us-east-1,
 * 2026; others some 10 % more), and 4.5 cents a GB. SST's small NAT instance opens all its ports to the world.
 *
 * Under `sst dev` there is no network: the functions run on the developer's machine.
 */
export const network = $dev ? null : create();

function create() {
  const { nat, bastion } = settings.network;
  const vpc = new sst.aws.Vpc("Vpc", {
    az: 2,
    ...(nat && { nat: "managed" }),
    bastion: bastion.length > 0,
    transform: {
      vpc: { cidrBlock: inside },
      // What is in no group of its own reaches nothing, and nothing reaches it.
      securityGroup: { ingress: [], egress: [] },
      publicSubnet: { mapPublicIpOnLaunch: bastion.length > 0 },
      // SST lets in the whole world by SSH.
      bastionSecurityGroup: (args) => {
        args.description = "Bastion";
        args.ingress = [tcp(22, { cidrBlocks: bastion })];
        args.egress = [tcp(5432, { cidrBlocks: [inside] }), tcp(443, { cidrBlocks: ["0.0.0.0/0"] })];
      },
      bastionInstance: (args) => {
        args.metadataOptions = { httpTokens: "required" };
        args.rootBlockDevice = { encrypted: true };
      },
    },
  });

  /** The functions: out to the database, and to AWS; with NAT to everybody's 443. */
  const functions = new aws.ec2.SecurityGroup("VpcFunctionsSecurityGroup", {
    description: "Functions",
    vpcId: vpc.id,
    egress: [tcp(5432, { cidrBlocks: [inside] }), tcp(443, { cidrBlocks: [nat ? "0.0.0.0/0" : inside] })],
  });
  return { vpc, functions };
}

type Others = { cidrBlocks: $util.Input<string>[] } | { securityGroups: $util.Input<$util.Input<string>[]> };

/** A security group's rule: one port, and who is at the other end. */
export function tcp<Other extends Others>(port: number, others: Other) {
  return { protocol: "tcp", fromPort: port, toPort: port, ...others };
}
