import type { ChangeMistake } from "../change.ts";
import { aroundChanges } from "./around.ts";
import { channelChanges } from "./channels.ts";
import { dataChanges } from "./data.ts";
import { documentChanges } from "./documents.ts";
import { watchChanges } from "./watch.ts";

/** For each rule that no mistake in the program proves, one in what is deployed. */
export const changeMistakes: readonly ChangeMistake[] = [
  ...dataChanges,
  ...aroundChanges,
  ...watchChanges,
  ...channelChanges,
  ...documentChanges,
];
