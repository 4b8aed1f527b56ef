/** A view, function or trigger of the ledger's schema: the part that is mutated, and the statement around it. */
export type DatabaseObject = { name: string; body: string; write: (body: string) => string };

const patterns = [
  { kind: "view", pattern: /^CREATE (VIEW (owed\.\w+) AS\n)([^;]*);$/gm },
  {
    kind: "function",
    pattern: /^(CREATE OR REPLACE FUNCTION (owed\.\w+)\([^$]*\$function\$)(.*?)\$function\$;$/gms,
  },
  {
    kind: "trigger",
    pattern: /^(CREATE TRIGGER (\w+) AFTER UPDATE ON \S+ FOR EACH ROW )(WHEN .*)( EXECUTE FUNCTION .*);$/gm,
  },
] as const;

/** What of a schema's dump decides something. */
export function objectsOf(schema: string): DatabaseObject[] {
  return patterns.flatMap(({ kind, pattern }) =>
    [...schema.matchAll(pattern)].map(([, head = "", name = "", body = "", tail = ""]): DatabaseObject => {
      if (kind === "view") return { name, body, write: (view) => `CREATE OR REPLACE ${head}${view}` };
      if (kind === "function") return { name, body, write: (text) => `${head}${text}$function$` };
      const drop = `DROP TRIGGER ${name} ON owed.notification;`;
      return { name, body, write: (condition) => `${drop} ${head}${condition}${tail}` };
    }),
  );
}
