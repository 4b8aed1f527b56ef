/**
 * Octets of UTF-8 in one word: as base64 they are 60 characters, and 72 with what is around them. 75 are the most
 * (RFC 2047, section 2).
 */
const mostOctets = 45;

/** A text as encoded words, for a header. Each holds whole characters (RFC 2047, section 5). */
export function encodedWords(text: string): string {
  const words: string[] = [];
  let word = "";
  for (const character of text) {
    if (Buffer.byteLength(word + character) > mostOctets) {
      words.push(word);
      word = "";
    }
    word += character;
  }
  return [...words, word].map((each) => `=?UTF-8?B?${Buffer.from(each).toString("base64")}?=`).join(" ");
}
