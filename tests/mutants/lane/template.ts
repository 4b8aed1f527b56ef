import postgres from "postgres";
import type { ProvidedContext } from "vitest";

const template = "template_owed";
const pristine = "pristine_owed";

/** The database that each test file's own is copied from, as the migrations made it or with one statement more. */
export class Template {
  readonly #cluster: ProvidedContext["cluster"];
  #isChanged = false;

  private constructor(cluster: ProvidedContext["cluster"]) {
    this.#cluster = cluster;
  }

  /** Keeps a copy of the template as it is now. */
  static async keep(cluster: ProvidedContext["cluster"]): Promise<Template> {
    const kept = new Template(cluster);
    await kept.#run("postgres", [`CREATE DATABASE ${pristine} TEMPLATE ${template}`]);
    return kept;
  }

  /** Throws what PostgreSQL says about the statement, and leaves the template unchanged then. */
  async use(statement: string | null): Promise<void> {
    if (this.#isChanged)
      await this.#run("postgres", [
        `DROP DATABASE ${template} WITH (FORCE)`,
        `CREATE DATABASE ${template} TEMPLATE ${pristine}`,
      ]);
    this.#isChanged = false;
    if (statement === null) return;
    await this.#run(template, [statement]);
    this.#isChanged = true;
  }

  async #run(database: string, statements: readonly string[]): Promise<void> {
    const sql = postgres({ ...this.#cluster, database, max: 1, fetch_types: false, onnotice: () => {} });
    try {
      for (const statement of statements) await sql.unsafe(statement);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
}
