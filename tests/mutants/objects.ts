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
    pattern:
      /^(CREATE TRIGGER (\w+) (?:AFTER|BEFORE) UPDATE ON \S+ FOR EACH ROW )(WHEN .*)( EXECUTE FUNCTION .*);$/gm,
  },
] as const;

/** What of a schema's dump decides something. */
export function objectsOf(schema: string): DatabaseObject[] {
  return patterns.flatMap(({ kind, pattern }) =>
    [...schema.matchAll(pattern)].map(([, head = "", name = "", body = "", tail = ""]): DatabaseObject => {
      if (kind === "view") return { name, body, write: (view) => `CREATE OR REPLACE ${head}${view}` };
      if (kind === "function") return { name, body, write: (text) => `${head}${text}$function$` };
      const [table] = head.match(/owed\.\w+/) ?? [];
      const drop = `DROP TRIGGER ${name} ON ${table};`;
      // One trigger for two tables.
      const own = table === "owed.notification_archive" ? `notification_archive.${name}` : name;
      return { name: own, body, write: (condition) => `${drop} ${head}${condition}${tail}` };
    }),
  );
}
