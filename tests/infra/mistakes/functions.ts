import type { Mistake } from "./mistake.ts";

export const functionMistakes: Mistake[] = [
  {
    name: "a handler's file renamed",
    edits: [["bundle.ts", "/handler.handler`", "/lambda.handler`"]],
    synthesis:
      /^\w+: its handler packages\/functions\/src\/\w+\/lambda\.handler names no file; there is no .*lambda\.ts\. Correct `handler`/m,
  },
  {
    name: "a handler's export renamed",
    edits: [["bundle.ts", "/handler.handler`", "/handler.main`"]],
    synthesis:
      /^\w+: its handler .*handler\.main names no export of .*handler\.ts, which exports handler\. Correct `handler`/m,
  },
  {
    name: "two resources of one name",
    edits: [["alarm.ts", 'createAlarm("ComplaintRate"', 'createAlarm("BounceRate"']],
    synthesis:
      /BounceRateAlarm \(aws:cloudwatch\/metricAlarm:MetricAlarm\) is made twice.*give the second another name/,
  },
  {
    name: "an import at the top of sst.config.ts",
    edits: [["../sst.config.ts", "export default", 'import "./infra/stages.ts";\nexport default']],
    synthesis:
      /sst\.config\.ts imports \.\/infra\/stages\.ts at its top, which SST does not allow; import it inside run\(\)/,
  },
  {
    name: "a package that is not bundled",
    edits: [["bundle.ts", "minify: true,", 'minify: true,\n  loader: { ".ts": "json" as const },']],
    synthesis: /^\w+: it can't be bundled: /m,
  },
  {
    name: "more at once than the account allows",
    edits: [["event.ts", "concurrency: settings.concurrency.ingest", "concurrency: 20"]],
    rule: "all functions together fit into the account's concurrency",
  },
  {
    name: "production that can be removed",
    edits: [["../sst.config.ts", "protect: production", "protect: false"]],
    rule: "production can't be removed by mistake",
  },
  {
    name: "alarms under sst dev",
    stage: "dev",
    dev: true,
    edits: [["../sst.config.ts", "if (!$dev) {", "{"]],
    rule: "sst dev costs nothing by the hour",
  },
];
