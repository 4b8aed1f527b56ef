/** `OWED_LONG=1`: the numbers and hours of the promises in full, where fewer prove the same in a fraction of the time. */
export const long = process.env.OWED_LONG === "1";
