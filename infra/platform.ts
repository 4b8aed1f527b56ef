import { databaseRole, deployed } from "./database.ts";
import { bus } from "./event.ts";
import { policyOf, prefix } from "./stage.ts";

/**
 * What the platform's own services need, attached to their roles by whoever manages them: to put events on the bus, and
 * to register shipments as the database role `owed_platform`. `database.clients` lets them in to the database's port.
 */
export const platform = new aws.iam.Policy("Platform", {
  name: `${prefix}-platform`,
  description: "Owed: put events on the bus, and log in to the ledger as owed_platform",
  policy: policyOf([
    { sid: "PutEvents", actions: ["events:PutEvents"], resources: [bus.arn] },
    ...(deployed
      ? [
          {
            sid: "UseLedger",
            actions: ["rds-db:connect"],
            resources: [databaseRole("owed_platform", deployed)],
          },
        ]
      : []),
  ]),
});
