import { InvalidArgumentError } from "commander";

/** Parses an option that takes a whole number, `least` or more. */
export const wholeNumber =
  (least = 1) =>
  (text: string): number => {
    const number = Number(text);
    if (!Number.isInteger(number) || number < least || number > 1_000_000)
      throw new InvalidArgumentError(`must be a whole number from ${least} to 1000000`);
    return number;
  };
