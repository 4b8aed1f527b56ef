import { arnOf, policyOf, settings, trustIn } from "./stage.ts";

/**
 * What holds for every component made after this. SST 4.17.1's own defaults are wider than anything here needs; nothing
 * is granted by a link, and every permission is named where the function is.
 */

$transform(sst.aws.Function, (args) => {
  args.runtime ??= "nodejs24.x";
  args.architecture ??= "arm64";
  args.memory ??= `${settings.memory} MB`;
  args.logging ??= { format: "json", retention: "1 month" };
  const before = args.transform?.role;
  args.transform = {
    ...args.transform,
    role: (role, options, name) => {
      if (typeof before === "function") before(role, options, name);
      else Object.assign(role, before);
      // SST asks an output whether it is false, so its trust takes in the whole account.
      role.assumeRolePolicy = trustIn("lambda");
      if ($dev) role.inlinePolicies = [{ name: "inline", policy: withBridge(args.permissions) }];
    },
  };
});

/**
 * Under `sst dev` a bridge runs in the function's place, and talks to the developer's machine over AppSync Events. SST
 * gives it `appsync:*`, and `s3:*` on the bucket of the deployments, which the bridge does not use.
 */
const bridge = {
  actions: ["appsync:EventConnect", "appsync:EventPublish", "appsync:EventSubscribe"],
  resources: [arnOf("appsync", "apis/*")],
};

const withBridge = (permissions: sst.aws.FunctionArgs["permissions"]): $util.Output<string> =>
  $output(permissions ?? []).apply((own) =>
    policyOf([...own.map((one) => ({ ...one, effect: one.effect === "deny" ? "Deny" : "Allow" })), bridge]),
  );

/** A linked queue is told apart from the right to use it: SST would grant `sqs:*`. */
sst.Linkable.wrap(sst.aws.Queue, ({ url, arn }) => ({ properties: { url, arn } }));
