import { expect, test } from "vitest";
import { PortTaken } from "../port.ts";
import { startSqs } from "./start.ts";
import { startTestSqs } from "./testing.ts";

test("a taken port is named with its setting", async () => {
  const first = await startSqs();
  const port = Number(new URL(first.endpoint).port);
  const second = startSqs({ port, setting: "OWED_PORT_SQS" });
  await expect(second).rejects.toThrow(PortTaken);
  await expect(second).rejects.toThrow("OWED_PORT_SQS");
  await first.stop();
});

test("stop ends a waiting receive and frees the port", async () => {
  const sqs = await startTestSqs();
  const url = await sqs.queue();
  const polling = new Promise<void>((resolve) => {
    sqs.faults.add(({ action }) => {
      if (action === "ReceiveMessage") resolve();
      return undefined;
    });
  });
  const waiting = sqs.receive(url, { WaitTimeSeconds: 20 });
  const ended = expect(waiting).rejects.toThrow();
  await polling;
  await sqs.stop();
  await ended;
  const again = await startSqs({ port: Number(new URL(sqs.endpoint).port) });
  expect(again.endpoint).toBe(sqs.endpoint);
  await again.stop();
});
