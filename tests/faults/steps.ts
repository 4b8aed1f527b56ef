import { type Stage, type Step, steps } from "@owed/functions/step";

export const stages = Object.keys(steps) as Stage[];

/** The steps of a function, in the order of its work. */
export const stepsOf = (stage: Stage): Step[] => steps[stage].map((name) => `${stage}:${name}` as Step);

export const everyStep: readonly Step[] = stages.flatMap(stepsOf);
