import fc from "fast-check";

// For packages that have no fast-check of their own.
export { fc };

/** Texts that have broken parsers, headers, terminals or databases before. */
export const evilTexts = [
  "",
  " ",
  "\0",
  "a\0b",
  "\uFEFF",
  "\r\nBcc: eve@example.org",
  "\r\n Bcc: eve@example.org",
  "=?utf-8?Q?x=0D=0ABcc:_eve@example.org?=",
  "\u0085\u2028\u2029",
  "\u00a0\u2003\u3000",
  "\u202e\u2066gnp.exe\u2069",
  "\u200b\u200c\u200d\u00ad\u2060",
  "\ud800",
  "\udfff\ud83d",
  "👩‍👩‍👧🏴󠁧󠁢󠁥󠁮󠁧󠁿",
  "١٢٣٤٥",
  "ａｂｃ",
  "е\u0301\u0301\u0301",
  "ИСТ",
  "{{ 7 | times: 7 }}{% raw %}",
  "<script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "'; DROP TABLE owed.notification; --",
  "\u001b[2J\u001b]8;;https://evil.example\u0007",
  "__proto__",
  "constructor",
  "NaN",
  "-0",
  "1e999",
  "undefined",
  "%00%0d%0a",
  "../../etc/passwd",
  `${"a".repeat(70)}@${"b".repeat(300)}`,
] as const;

/** Any text: an evil one, one that has it in its middle, and whatever else UTF-16 can hold. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...evilTexts) },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.constantFrom(...evilTexts, "Ana", "x", "-"), { maxLength: 4 })
      .map((parts) => parts.join("")),
  },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 60 }) },
  // Halves of characters, which no unit of fast-check makes.
  {
    weight: 1,
    arbitrary: fc.array(fc.nat(0xffff), { maxLength: 20 }).map((units) => String.fromCharCode(...units)),
  },
);

/** What JSON can hold in place of what is expected. */
export const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: anyText },
  {
    weight: 2,
    arbitrary: fc.constantFrom(null, true, -0, 1e308, -1, 0.1, 2 ** 31, 2 ** 53, 9e15, [], {}, [[]], [{}]),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

type Mutation = {
  place: number;
  how: "replace" | "delete" | "wrap" | "rename" | "add";
  key: string;
  value: unknown;
};

const mutation: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat(1_000),
  how: fc.constantFrom("replace", "replace", "replace", "delete", "wrap", "rename", "add"),
  key: fc.constantFrom("__proto__", "constructor", "toString", "", "0", "id", "type", "\0", "a.b"),
  value: anyValue,
});

/** A valid value of JSON with up to so many changes anywhere in it; often with none. */
export const mutated = (valid: fc.Arbitrary<unknown>, most = 2): fc.Arbitrary<unknown> =>
  fc
    .tuple(valid, fc.array(mutation, { maxLength: most }))
    .map(([value, changes]) => changes.reduce(mutate, value));

function mutate(root: unknown, change: Mutation): unknown {
  const places = placesIn(root);
  const place = places[change.place % places.length] ?? [];
  return at(root, place, change);
}

type Place = string[];

const isBranch = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

function placesIn(value: unknown): Place[] {
  if (!isBranch(value)) return [[]];
  return [[], ...Object.keys(value).flatMap((key) => placesIn(value[key]).map((rest) => [key, ...rest]))];
}

function at(value: unknown, [key, ...rest]: Place, change: Mutation): unknown {
  if (key === undefined) return changed(value, change);
  if (!isBranch(value)) return value;
  const entries = Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
    if (name !== key) return [[name, inner]];
    if (rest.length > 0) return [[name, at(inner, rest, change)]];
    if (change.how === "delete") return [];
    return [[change.how === "rename" ? change.key : name, changed(inner, change)]];
  });
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : own(entries);
}

function changed(value: unknown, { how, key, value: other }: Mutation): unknown {
  if (how === "replace") return other;
  if (how === "wrap") return [value];
  if (how === "add" && isBranch(value) && !Array.isArray(value))
    return own([...Object.entries(value), [key, other]]);
  return value;
}

/** `__proto__` becomes a property like any other, as JSON.parse makes it. */
const own = (entries: readonly [string, unknown][]): Record<string, unknown> => Object.fromEntries(entries);

/** JSON text of a value, often as somebody hostile would write it: still JSON in most cases. */
export const written = (value: fc.Arbitrary<unknown>): fc.Arbitrary<string> =>
  fc
    .tuple(value, fc.constantFrom(...ways), fc.nat(1_000))
    .map(([given, write, place]) => write(JSON.stringify(given) ?? "", place));

const asIs = (json: string): string => json;

const ways: readonly ((json: string, place: number) => string)[] = [
  ...[asIs, asIs, asIs, asIs, asIs, asIs],
  (json) => `\uFEFF${json}`,
  (json) => ` \t\r\n${json}\n `,
  (json) => `\u00a0${json}`,
  (json) => `${json}\0`,
  (json) => `${json}{}`,
  (json, place) => json.slice(0, place % (json.length + 1)),
  // The same key twice: the last one counts.
  (json) => json.replace(/^\{/, '{"id":"first","generation":9,"source":"x","detail":[1],'),
  // Every letter as an escape: the same value, six times as long.
  (json) =>
    json.replace(/(?<=")[a-z_-]+(?=":)/g, (key) =>
      [...key].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
    ),
  (json) => `${"[".repeat(5_000)}${json}${"]".repeat(5_000)}`,
  (json) => json.replace(/\d+/, "1e999"),
  // UTF-8 that is none, as Node decodes it.
  (json, place) =>
    Buffer.concat([
      Buffer.from(json.slice(0, place)),
      Buffer.from([0xc0, 0x80, 0xff]),
      Buffer.from(json.slice(place)),
    ]).toString("utf8"),
];

/** What may stand in a log, in the ledger and on a terminal: short, printable, and no more of the input than allowed. */
export const isPlainReason = (reason: string, most: number): boolean =>
  /^[ -~]+$/.test(reason) && reason.length <= most;

/** Counts which of a parser's answers a run of properties has reached. */
export function tally<Kind extends string>(
  ...kinds: Kind[]
): { count(kind: Kind): void; reached: Record<Kind, number>; rarest(): number } {
  const reached = Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>;
  return {
    reached,
    count(kind) {
      reached[kind] += 1;
    },
    rarest: () => Math.min(...Object.values<number>(reached)),
  };
}

/** Texts of a length that makes a pattern which looks back at each character take seconds. */
export const longTexts = (length = 50_000): string[] =>
  [
    "a",
    " ",
    "@",
    "a@",
    ".",
    "a.",
    "-",
    "=?",
    "=?a?b?",
    '"',
    "<",
    "é",
    "\0",
    "{{",
    "[",
    "0",
    "%41",
    "٣",
    "👋",
    "\ud800",
  ].map((part) => part.repeat(Math.ceil(length / part.length)));

/** Milliseconds of processor time that work takes: its neighbours on the machine do not count. */
export function cost(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
