/** The GSM 7-bit default alphabet, and its extension, whose characters take two septets (3GPP TS 23.038). */
const basic = new Set(
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà",
);
const extension = new Set("\f^{}\\[~]|€");

/** Can the text be sent in that alphabet? */
export const isGsm = (text: string): boolean =>
  [...text].every((character) => basic.has(character) || extension.has(character));

/** The length of a text that is all in that alphabet. */
export const septets = (text: string): number =>
  [...text].reduce((sum, character) => sum + (extension.has(character) ? 2 : 1), 0);

/** Letters and signs that Unicode does not take apart. */
const substitutes: Record<string, string> = {
  "‘": "'",
  "’": "'",
  "‚": "'",
  "“": '"',
  "”": '"',
  "„": '"',
  "–": "-",
  "—": "-",
  "…": "..",
  ł: "l",
  Ł: "L",
  đ: "d",
  Đ: "D",
};

/** The text in that alphabet, as well as it can say it: `Łódź` becomes `Lodz`; what it cannot say stays. */
export function toGsm(text: string): string {
  if (isGsm(text)) return text;
  return [...text.normalize("NFC")]
    .map((character) => (isGsm(character) ? character : plainer(character)))
    .join("");
}

function plainer(character: string): string {
  const letter = substitutes[character] ?? character.normalize("NFKD").replace(/\p{M}/gu, "");
  return letter !== "" && isGsm(letter) ? letter : character;
}
