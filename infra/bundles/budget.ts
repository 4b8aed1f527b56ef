import { clients, mostBytes, ofOneFunction, type Stage } from "../bundle.ts";
import { type Contents, sourcesOf } from "./contents.ts";

/** What a function's bundle has too much of, or lacks: a sentence each. None when it keeps to its budget. */
export function overBudget(stage: Stage, contents: Contents): string[] {
  const { bytes, packages, missing } = contents;
  const calls = clients[stage];
  const [largest] = packages;
  const faults = [
    ...contents.clients
      .filter((client) => !calls.includes(client))
      .map((client) => `has the AWS client of ${client}, and does not call it`),
    ...calls
      .filter((client) => !contents.clients.includes(client))
      .map((client) => `calls ${client}, and does not have its AWS client`),
    ...contents.stages
      .filter((other) => other !== stage)
      .map((other) => `has sources of another function: ${sourcesOf(other)}`),
    ...packages
      .filter(({ copies }) => copies.length > 1)
      .map(({ name, copies }) => `has ${name} more than once: ${copies.join(", ")}`),
    ...packages
      .filter(({ name }) => (ofOneFunction[name] ?? stage) !== stage)
      .map(({ name }) => `has ${name}, which ${ofOneFunction[name]} alone needs`),
    ...missing.map((name) => `imports ${name} when it is loaded, and does not have it`),
  ];
  if (bytes > mostBytes)
    faults.unshift(
      `has ${bytes} bytes where ${mostBytes} are the most; the largest package in it is ${largest?.name} with ${largest?.bytes}`,
    );
  return faults.map((fault) => `${stage} ${fault}`);
}
