import type { Disposal } from "../sqs-batch.ts";

export const acknowledged: Disposal = { acknowledge: true };
export const comesAgainIn = (visibility: number | null): Disposal => ({ acknowledge: false, visibility });
