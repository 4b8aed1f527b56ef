/// <reference path="./.sst/platform/config.d.ts" />

export default $config({
  async app({ stage }) {
    const { isProduction, region } = await import("./infra/stages.ts");
    const production = isProduction(stage);
    return {
      name: "owed",
      home: "aws",
      version: "4.17.1",
      // It retains no queue and no log: what protects production is `protect`, and the database's own protection.
      removal: production ? "retain" : "remove",
      protect: production,
      providers: {
        aws: { version: "7.20.0", region, defaultTags: { tags: { app: "owed", stage } } },
      },
    };
  },
  async run() {
    await import("./infra/defaults.ts");
    await import("./infra/network.ts");
    await import("./infra/endpoints.ts");
    await import("./infra/database.ts");
    await import("./infra/migrate.ts");
    // In the order of the data.
    const { bus } = await import("./infra/event.ts");
    const { schedule } = await import("./infra/sweep.ts");
    const { notificationQueue, notificationDlq } = await import("./infra/queue.ts");
    await import("./infra/deliver.ts");
    const { dnsRecords } = await import("./infra/email-identity.ts");
    await import("./infra/feedback.ts");

    const { operator } = await import("./infra/operator.ts");
    const { platform } = await import("./infra/platform.ts");
    // Under `sst dev` the functions' metrics stay on the developer's machine.
    if (!$dev) {
      await import("./infra/alarm.ts");
      await import("./infra/dashboard.ts");
    }
    const { settings } = await import("./infra/stage.ts");
    const { emails } = settings.alarm;
    return {
      bus: bus.name,
      schedule: schedule.nodes.schedule.name,
      notificationQueue: notificationQueue.url,
      notificationDlq: notificationDlq.url,
      operatorPolicy: operator.arn,
      platformPolicy: platform.arn,
      alarmsGoTo: emails.length > 0 ? emails : "nobody: give alarm.emails in infra/stages.ts",
      // Of a domain whose DNS is written by hand.
      dnsRecords,
    };
  },
});
