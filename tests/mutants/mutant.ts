/** One fault put into the product: into a module as tests load it, or into the database that theirs are copied from. */
export type Mutant = {
  /** Stage, place and change, the same from run to run: `record/recorded.where: drop "n.lease_token = o.token"`. */
  id: string;
  kind: "guard" | "detail";
  /** The module or the database object that is changed. */
  of: string;
  change: { file: string; source: string } | { sql: string };
};

/** What became of a mutant. */
export type Verdict =
  /** A test failed that passes without it. */
  | { result: "caught"; by: Killer }
  /** A test, or all of them, did not come to an end. */
  | { result: "hung"; by: Killer }
  | { result: "survived" }
  /** PostgreSQL or Node could not even read it: it says nothing about the tests. */
  | { result: "invalid"; why: string };

/** A test that catches a mutant: its file, and its own name without those of its groups. */
export type Killer = { file: string; test: string };

export type Judged = { id: string; verdict: Verdict; ms: number };
