import { network } from "./network.ts";
import { settings } from "./stage.ts";

/**
 * What deliver calls merchants' inboxes with. The key is one or more of `whsec_…`, separated by spaces: merchants'
 * signing secrets are derived from it, and it is the only secret that a link holds. Null where the stage calls none.
 */
export const webhook = settings.webhooks ? create() : null;

function create() {
  // Ports that an inbox may have, but for 443, by which every function leaves (packages/channel/src/webhook/address.ts).
  const ports = { protocol: "tcp", fromPort: 1024, toPort: 65_535 };
  const securityGroups = network
    ? [
        new aws.ec2.SecurityGroup("VpcWebhooksSecurityGroup", {
          description: "Webhooks",
          vpcId: network.vpc.id,
          egress: [{ ...ports, cidrBlocks: ["0.0.0.0/0"] }],
        }).id,
      ]
    : [];
  return { key: new sst.Secret("WebhookKey"), securityGroups };
}
