import { randomUUID } from "node:crypto";
import type { Context } from "aws-lambda";

/** A function's context as Lambda makes it for one invocation: the time that remains counts from now. */
export function createContext({
  functionName,
  region,
  timeoutSeconds,
}: {
  functionName: string;
  region: string;
  timeoutSeconds: number;
}): Context {
  const deadline = performance.now() + timeoutSeconds * 1000;
  return {
    awsRequestId: randomUUID(),
    functionName,
    functionVersion: "$LATEST",
    invokedFunctionArn: `arn:aws:lambda:${region}:000000000000:function:${functionName}`,
    memoryLimitInMB: "1024",
    logGroupName: `/aws/lambda/${functionName}`,
    logStreamName: "local",
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => Math.max(0, Math.floor(deadline - performance.now())),
    // Of Node.js 0.10; the type still asks for them.
    done() {},
    fail() {},
    succeed() {},
  };
}
