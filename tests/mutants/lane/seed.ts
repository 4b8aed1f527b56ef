import { expect } from "vitest";

// The same histories for every mutant, and no time spent on making a failing one shorter. The others do not load it.
if (/protocol|properties/.test(expect.getState().testPath ?? "")) {
  const { configureGlobal } = await import("fast-check");
  configureGlobal({ seed: 20_240_229, endOnFailure: true });
}
