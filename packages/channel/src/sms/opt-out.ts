/** Letters; a longer text is a letter to us, and no keyword of AWS's is longer than 30. */
const longest = 60;

/**
 * Words that ask for no more texts: AWS's own keywords (AWS End User Messaging SMS user guide, "Required opt-out
 * keywords"), which hold those of the wireless carriers (CTIA, messaging principles and best practices) but `STOPALL`,
 * and those of the FCC (47 CFR 64.1200(a)(10)); then their like in the languages of our texts, which nobody prescribes.
 */
const stopWords = [
  ...["STOP", "STOPALL", "STOP ALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REMOVE", "REVOKE"],
  ...["OPT OUT", "OPTOUT", "TD", "ARRET"],
  ...["ARRETER", "ARRETEZ", "DESINSCRIRE", "DESINSCRIPTION", "DESABONNER", "DESABONNEMENT"],
  ...["STOPP", "ABMELDEN", "ABMELDUNG", "ABBESTELLEN", "ENDE", "KEINE SMS"],
  ...["توقف", "قف", "اوقف", "ايقاف", "الغاء", "الغاء الاشتراك"],
];

/** Words that ask for texts again, by the carriers' usage (AWS: `START`, `UNSTOP`), and their like. */
const startWords = [
  ...["START", "UNSTOP", "YES", "OPT IN", "OPTIN", "SUBSCRIBE"],
  ...["OUI", "REPRENDRE", "REINSCRIRE"],
  ...["JA", "STARTEN", "ANMELDEN"],
  ...["ابدا", "نعم", "اشتراك"],
];

/** No other word begins a message by these: "STOP please" is clear, where "End of the street" and "Yes?" are not. */
const clearWords = ["STOP", "STOPP", "STOPALL", "UNSUBSCRIBE", "ARRET", "ABMELDEN", "توقف", "ايقاف"];

const key = (words: string): string => plain(words).join(" ");
const stop = new Set(stopWords.map(key));
const start = new Set(startWords.map(key));
const clear = new Set(clearWords.map(key));

/**
 * What a recipient's answer asks for, if it is one of the known words, however it is written (case, accents, full
 * stops, quotation marks); null for any other text. Of longer ones only those that begin with an unmistakable `STOP`,
 * as AWS itself takes a message that begins with a keyword.
 */
export function optOutWord(text: string): "stop" | "start" | null {
  const words = plain(text.slice(0, 1_000));
  const all = words.join(" ");
  if (all.length <= longest) {
    if (stop.has(all)) return "stop";
    if (start.has(all)) return "start";
  }
  return clear.has(words[0] ?? "") ? "stop" : null;
}

/** Its words in capitals, without accents (in Arabic: hamzas, vowel signs) and stretched letters. */
function plain(text: string): string[] {
  return text
    .normalize("NFKD")
    .replace(/[\p{M}\p{Cf}\u0640]/gu, "")
    .toUpperCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}
