/**
 * What mail clients and telephones make a link of: a scheme, an email address, a domain, an IP address. They find
 * it in plain text as in HTML, and no markup keeps all of them from it.
 */
const linkLike =
  /[@＠]|:\/|\/\/|\\\\|\b(mailto|tel|sms|javascript|data):|\bwww\.|[\p{L}\p{N}_-][.。．｡․][\p{L}\p{M}\p{N}-]*\p{L}[\p{L}\p{M}\p{N}-]|\d+([.。．｡․]\d+){3}/iu;

/** Characters that no one sees, which would hide a domain's dot from `linkLike` and not from every client. */
const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/** Would a client make a link, or a telephone number to call, of this? */
export function looksLikeContact(value: string): boolean {
  const seen = value.normalize("NFKC").replace(invisible, "");
  return linkLike.test(seen) || (seen.match(/\p{Nd}/gu)?.length ?? 0) >= 6;
}

/**
 * The value so that no client makes a link of it: `shop.example` becomes `shop example`. A space is what every
 * client, telephone and character set understands; an invisible separator would make each SMS a longer one, and is
 * ignored by some.
 */
export function withoutLinks(value: string): string {
  const seen = value.replace(invisible, "");
  if (!linkLike.test(seen.normalize("NFKC"))) return value;
  return seen
    .normalize("NFKC")
    .replace(/[@./:\\。．｡․]+/gu, " ")
    .replace(/\s+/gu, " ")
    .trim();
}
