/** Takes email addresses and the recipient's name, plain or encoded, out of a provider's message. */
export function redacted(message: string, name: string): string {
  // A shorter name would tear ordinary words apart, and make the reason another one for each recipient.
  const nameless = name.length > 2 ? message.replaceAll(name, "[name]") : message;
  return (
    nameless
      .replace(/=\?[^?\s]*\?[BQ]\?[^?\s]*\?=/gi, "[name]")
      // Word by word: looking for an @ from each character on would take the square of the message's length.
      .replace(/[^\s<>"',;:()]+/g, (word) => (word.includes("@") ? "[address]" : word))
  );
}
