import type { Proof } from "@owed/ledger";

const gravity = ["accepted", "arrived", "bounced", "complained"] as const satisfies Proof["outcome"][];

const keyOf = (proof: Proof): (number | string)[] => [
  proof.at === null ? 0 : Date.parse(proof.at),
  proof.providerMessageId,
  gravity.indexOf(proof.outcome),
  Number(proof.suppress),
  proof.detail ?? "",
];

/**
 * The order in which a batch's events about one row are weighed, however the queue handed them out: the first
 * acceptance is the row's own, and of one email's events the gravest comes last, so that its detail stays.
 */
export function inOrder<Item extends { proof: Proof }>(items: readonly Item[]): Item[] {
  const keyed = items.map((item) => ({ item, key: keyOf(item.proof) }));
  return keyed.toSorted((a, b) => compare(a.key, b.key)).map(({ item }) => item);
}

function compare(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  for (const [place, left] of a.entries()) {
    const right = b[place] ?? left;
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}
