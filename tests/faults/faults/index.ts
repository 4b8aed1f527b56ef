import type { MeetableFault } from "./met.ts";
import { postgresFaults } from "./postgres.ts";
import { processFaults } from "./process.ts";
import { providerFaults } from "./provider.ts";
import { sqsFaults } from "./sqs.ts";

/** Whatever can go wrong around the functions. */
export const all: readonly MeetableFault[] = [
  ...postgresFaults,
  ...sqsFaults,
  ...providerFaults,
  ...processFaults,
];
