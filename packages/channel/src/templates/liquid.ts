import { Liquid, type Template } from "liquidjs";

// jsTruthy: an empty greeting is none.
const strict = { strictVariables: true, strictFilters: true, ownPropertyOnly: true, jsTruthy: true };
const plain = new Liquid(strict);
/** Escapes every value, and isolates it, so that one of another direction disturbs no sentence. */
const markup = new Liquid({ ...strict, outputEscape: (value) => `<bdi>${escapeHtml(String(value))}</bdi>` });

export type Values = Record<string, unknown>;

/** Fills in a text; the values come as they are. */
export const inText = (source: string, values: Values): string => run(plain, source, values);

/** Fills in a page whose own words are HTML; the values are escaped. */
export const inPage = (source: string, values: Values): string => run(markup, source, values);

/** Fills in a text for HTML: its own words and the values are escaped. */
export const inHtml = (source: string, values: Values): string =>
  run(
    markup,
    source.replace(/[&<>]/g, (character) => escapeHtml(character)),
    values,
  );

/** The variables that a text names. Throws what Liquid throws for one that cannot be read. */
export const variablesOf = (source: string): string[] => plain.variablesSync(source);

/** Each engine's parsed sources; there are as many as the templates have sentences. */
const parsed = new WeakMap<Liquid, Map<string, Template[]>>();

function run(engine: Liquid, source: string, values: Values): string {
  const cache = parsed.get(engine) ?? new Map<string, Template[]>();
  parsed.set(engine, cache);
  const template = cache.get(source) ?? engine.parse(source);
  cache.set(source, template);
  return String(engine.renderSync(template, values));
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
