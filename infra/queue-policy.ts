import { policyOf } from "./stage.ts";

/** Who may put messages into a queue: rules of EventBridge, and topics of SNS. */
type Sources = { rules: aws.cloudwatch.EventRule[]; topics?: aws.sns.Topic[] };

/** Lets these into a queue, and nobody else. A queue has one policy. */
export function createQueuePolicy(
  title: string,
  queue: sst.aws.Queue,
  { rules, topics = [] }: Sources,
): void {
  const letIn = (service: string, sources: { arn: $util.Output<string> }[]) => ({
    principals: [{ type: "Service", identifiers: [`${service}.amazonaws.com`] }],
    actions: ["sqs:SendMessage"],
    resources: [queue.arn],
    conditions: [{ test: "ArnEquals", variable: "aws:SourceArn", values: sources.map(({ arn }) => arn) }],
  });
  new aws.sqs.QueuePolicy(`${title}QueuePolicy`, {
    queueUrl: queue.url,
    policy: policyOf([letIn("events", rules), ...(topics.length > 0 ? [letIn("sns", topics)] : [])]),
  });
}
