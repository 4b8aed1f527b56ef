const words: Record<string, string> = {
  expired: "it has expired",
  opted_out: "its recipient has opted out",
  suppressed: "its address is suppressed",
  superseded: "a newer status has made it untrue",
  erased: "its recipient's data was erased",
};

/** Why a notification is no longer to be sent, in words; `by`: what made it so, where the ledger says. */
export const mootText = (reason: string, by: string | null = null): string => {
  const why = words[reason] ?? reason;
  return by !== null && named.test(by) ? `${why} (${by})` : why;
};

/** What has an id to look up. */
const named = /^(event|suppression) /;

const ways: Record<string, string> = {
  expired: "it is too late for it: cancel it; if it must go out all the same, record a new event",
  opted_out: "the recipient does not want it: cancel it",
  suppressed:
    "its address bounced or complained: see 'owed suppressed'; owed lift, or correct the address, then redrive; or cancel it",
  superseded: "a newer status was told since, or is owed: cancel it",
  erased: "nothing is known of the recipient any more: cancel it",
};

/** What a person can do about a dead one. */
export const mootAdvice = (reason: string): string => ways[reason] ?? "it is no longer true: cancel it";
