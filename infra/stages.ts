import type { GivenSettings } from "./settings-schema.ts";

/**
 * What the platform team edits: what each stage has otherwise than `settings-schema.ts`, where each setting stands with
 * its default and reason. `OWED_SETTINGS` in the environment, JSON of the same shape, is merged over it.
 */
const stages: Record<string, GivenSettings> = {
  production: {
    // Needs `email.from`, an address at a domain of yours: without one the stage is refused.
    database: { instance: "t4g.small", multiAz: true, storage: 50, mostStorage: 500, backupDays: 30 },
    logDays: 90,
  },
  staging: {
    // Production's kind in small; emails leave it only with a sender of its own.
    database: { backupDays: 3 },
  },
};

/** Every other stage is a developer's: the cheapest of each kind. */
const developer: GivenSettings = { database: { backupDays: 1 }, logDays: 7 };

export const givenOf = (stage: string): GivenSettings =>
  isShared(stage) ? (stages[stage] ?? {}) : developer;

/** A stage of the whole team, not of one developer. */
export const isShared = (stage: string): boolean => Object.hasOwn(stages, stage);

/** One region for all: whoever deploys from a shell that is set to another must not make a second stack there. */
export const region = "eu-west-1";

/** The stage that keeps what it has: nothing of it is removed by mistake. */
export const isProduction = (stage: string): boolean => stage === "production";
