/**
 * Control, format (bidirectional overrides among them), private-use and separator characters and lone
 * surrogates: they would move a terminal's cursor, or make a line read as something else.
 */
const unsafe = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;

const short: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Joiners that languages and emoji need, and that change nothing around them. */
const harmless = new Set(["\u200c", "\u200d"]);

/** Text as one printable line: what a terminal would act on is shown as an escape, `\n` or `\u{202e}`. */
export const printable = (text: string): string =>
  text.replace(unsafe, (character) =>
    harmless.has(character)
      ? character
      : (short[character] ?? `\\u{${character.codePointAt(0)?.toString(16) ?? ""}}`),
  );

/** One line of JSON in which all that a terminal would act on is escaped as JSON does: the value is the same. */
export const toJson = (value: unknown): string =>
  JSON.stringify(value).replace(unsafe, (character) =>
    // A character outside the basic plane is two units in JSON.
    character
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
