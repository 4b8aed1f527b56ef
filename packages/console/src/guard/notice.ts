import { createHmac, timingSafeEqual } from "node:crypto";

/** Characters of a notice: it travels in an address. */
const most = 300;

const sealOf = (said: string, token: string): string =>
  createHmac("sha256", token).update(said).digest("base64url").slice(0, 22);

/** The address with what was done, as the page there says it. */
export function withNotice(to: string, said: string, token: string): string {
  const [path = "", place] = to.split("#");
  const cut = said.length > most ? `${said.slice(0, most)} …` : said;
  const notice = new URLSearchParams({ said: cut, seal: sealOf(cut, token) });
  return `${path}${path.includes("?") ? "&" : "?"}${notice}${place === undefined ? "" : `#${place}`}`;
}

/** What was done; null when this console did not say it: an address may come from anybody. */
export function noticeOf(said = "", seal = "", token: string): string | null {
  const [given, known] = [Buffer.from(seal), Buffer.from(sealOf(said, token))];
  return given.length === known.length && timingSafeEqual(given, known) ? said : null;
}
