/** GSM 03.38: the characters of one septet, and those of two. */
const BASIC = new Set(
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà",
);
const EXTENDED = new Set("\f^{}\\[~]|€");

/** How a text goes out: 160 septets or 70 UTF-16 units alone, 153 or 67 in each of several parts; none splits a character. */
export function partsOf(text: string): { encoding: "GSM" | "UNICODE"; segments: number } {
  const characters = [...text];
  const gsm = characters.every((character) => BASIC.has(character) || EXTENDED.has(character));
  const sizes = characters.map((character) => (gsm ? (EXTENDED.has(character) ? 2 : 1) : character.length));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const encoding = gsm ? "GSM" : "UNICODE";
  if (total <= (gsm ? 160 : 70)) return { encoding, segments: 1 };
  const most = gsm ? 153 : 67;
  let segments = 1;
  let filled = 0;
  for (const size of sizes) {
    filled += size;
    if (filled <= most) continue;
    segments += 1;
    filled = size;
  }
  return { encoding, segments };
}
