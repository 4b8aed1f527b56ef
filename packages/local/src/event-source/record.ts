import type { Message, MessageAttributeValue } from "@aws-sdk/client-sqs";
import type { SQSMessageAttribute, SQSRecord } from "aws-lambda";

/** A received message as Lambda hands it to a function. */
export function toRecord(message: Message, queueArn: string, region: string): SQSRecord {
  const {
    ApproximateReceiveCount = "",
    ApproximateFirstReceiveTimestamp = "",
    SenderId = "",
    SentTimestamp = "",
    ...onlySome
  } = message.Attributes ?? {};
  const attributes = Object.entries(message.MessageAttributes ?? {});
  return {
    messageId: message.MessageId ?? "",
    receiptHandle: message.ReceiptHandle ?? "",
    body: message.Body ?? "",
    attributes: {
      ApproximateReceiveCount,
      ApproximateFirstReceiveTimestamp,
      SenderId,
      SentTimestamp,
      ...onlySome,
    },
    messageAttributes: Object.fromEntries(attributes.map(([name, value]) => [name, toAttribute(value)])),
    md5OfBody: message.MD5OfBody ?? "",
    ...(message.MD5OfMessageAttributes !== undefined && {
      md5OfMessageAttributes: message.MD5OfMessageAttributes,
    }),
    eventSource: "aws:sqs",
    eventSourceARN: queueArn,
    awsRegion: region,
  };
}

function toAttribute({ StringValue, BinaryValue, DataType }: MessageAttributeValue): SQSMessageAttribute {
  return {
    ...(StringValue !== undefined && { stringValue: StringValue }),
    ...(BinaryValue !== undefined && { binaryValue: Buffer.from(BinaryValue).toString("base64") }),
    stringListValues: [],
    binaryListValues: [],
    dataType: DataType ?? "String",
  };
}
