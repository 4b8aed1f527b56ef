import type { World } from "./world/world.ts";

/** A whole number from 0 to below `most`, from the history's seed: what a fault leaves open is drawn from it. */
export type Draw = (most: number) => number;

/** Something that goes wrong in the world around the functions, for a while. */
export type Fault = {
  /** `postgres: killed`, `sqs: answers 503`, … */
  name: string;
  /** Begins it. What it returns ends it, and leaves the world as if it had never been. */
  begin(world: World, draw: Draw): Promise<() => Promise<void>>;
};
