import { describe, expect, test } from "vitest";
import { apply } from "../change.ts";
import { changesOfSql } from "./changes.ts";

/** What becomes of a text, mutation by mutation. */
const mutants = (text: string) => changesOfSql(text).map((change) => apply(text, change));
const named = (text: string) =>
  Object.fromEntries(
    changesOfSql(text).map((change) => [`${change.place}: ${change.what}`, apply(text, change)]),
  );

/** What a template has for a value, as its source reads. */
const hole = (code: string) => ["$", "{", code, "}"].join("");

describe("conditions", () => {
  test("of a WHERE are dropped one at a time, strings and comments left alone", () => {
    expect(mutants("SELECT 1 FROM a WHERE x = 'AND' AND -- AND y\n y = 2 AND z = 3")).toEqual([
      "SELECT 1 FROM a WHERE true AND -- AND y\n y = 2 AND z = 3",
      "SELECT 1 FROM a WHERE x = 'AND' AND -- AND y\n true AND z = 3",
      "SELECT 1 FROM a WHERE x = 'AND' AND -- AND y\n y = 2 AND true",
    ]);
  });

  test("a WHERE of one condition asks nothing any more", () => {
    expect(mutants("DELETE FROM a WHERE id = 1 RETURNING id")).toEqual([
      "DELETE FROM a WHERE true RETURNING id",
    ]);
  });

  test("the sides of an OR never hold, and conditions inside of one are dropped as well", () => {
    expect(mutants("SELECT WHERE a OR (b AND c)")).toEqual([
      "SELECT WHERE false OR (b AND c)",
      "SELECT WHERE a OR false",
      "SELECT WHERE a OR (true AND c)",
      "SELECT WHERE a OR (b AND true)",
    ]);
  });

  test("NOT is dropped, and the AND of BETWEEN joins nothing", () => {
    expect(mutants("SELECT WHERE NOT a AND b BETWEEN 1 AND 2")).toEqual([
      "SELECT WHERE true AND b BETWEEN 1 AND 2",
      "SELECT WHERE  a AND b BETWEEN 1 AND 2",
      "SELECT WHERE NOT a AND true",
    ]);
  });

  test("a number is compared by one step, a time the other way round", () => {
    expect(named("SELECT WHERE tries < 3 AND owed_at <= now()")).toMatchObject({
      'where: <= in "tries < 3"': "SELECT WHERE tries <= 3 AND owed_at <= now()",
      'where: > in "owed_at <= now()"': "SELECT WHERE tries < 3 AND owed_at > now()",
    });
  });

  test("are told by the common table expression that they stand in", () => {
    const text =
      "WITH due AS MATERIALIZED (SELECT FROM a WHERE b) UPDATE c SET d = 1, e = 2 FROM due WHERE f AND g";
    expect(Object.keys(named(text))).toEqual([
      'materialized: drop "MATERIALIZED"',
      'due.where: drop "b"',
      'set: drop "d = 1"',
      'set: drop "e = 2"',
      'where: drop "f"',
      'where: drop "g"',
    ]);
  });

  test("a hole of a template is a value, unless there is more SQL in it", () => {
    const [value, more] = [hole('x.map((y) => "}")'), hole("a ? sql`AND c` : sql``")];
    expect(mutants(`SELECT WHERE a = ${value} AND b ${more} LIMIT 1`)).toEqual([
      `SELECT WHERE true AND b ${more} LIMIT 1`,
      `SELECT WHERE a = ${value} AND true ${more} LIMIT 1`,
      `SELECT WHERE a = ${value} AND b ${more} `,
    ]);
  });
});

describe("expressions", () => {
  test("a CASE loses one branch after the other", () => {
    expect(mutants("SELECT CASE WHEN a THEN 1 WHEN b THEN 2 ELSE 3 END")).toEqual([
      "SELECT CASE  WHEN b THEN 2 ELSE 3 END",
      "SELECT CASE WHEN a THEN 1  ELSE 3 END",
    ]);
  });

  test("a CASE of one branch is never so, or always", () => {
    expect(mutants("SELECT CASE WHEN a THEN 1 END")).toEqual([
      "SELECT CASE WHEN false THEN 1 END",
      "SELECT CASE WHEN true THEN 1 END",
    ]);
    expect(mutants("SELECT CASE a WHEN 'b' THEN 1 ELSE 2 END")).toEqual([
      "SELECT CASE WHEN false THEN 1 ELSE 2 END",
      "SELECT CASE WHEN true THEN 1 ELSE 2 END",
    ]);
  });

  test("coalesce, greatest and least lose an argument", () => {
    expect(mutants("SELECT coalesce(f(a, b), c)")).toEqual(["SELECT (c)", "SELECT (f(a, b))"]);
    expect(mutants("SELECT least(a, b, c)")).toContain("SELECT least(a, c)");
  });

  test("counters do not move, and times are not put off", () => {
    expect(mutants("SELECT token + 1")).toEqual(["SELECT token "]);
    expect(mutants("SELECT now() + make_interval(secs => 3)")).toEqual(["SELECT now() "]);
    expect(mutants("SELECT now() - interval '1 minute'")).toEqual(["SELECT now() "]);
  });
});

describe("clauses", () => {
  test("locks, order, limit and what a conflict does are dropped", () => {
    expect(mutants("SELECT FROM a ORDER BY b, c LIMIT 10 FOR UPDATE OF a SKIP LOCKED")).toEqual([
      "SELECT FROM a  LIMIT 10 FOR UPDATE OF a SKIP LOCKED",
      "SELECT FROM a ORDER BY b, c  FOR UPDATE OF a SKIP LOCKED",
      "SELECT FROM a ORDER BY b, c LIMIT 10 ",
      "SELECT FROM a ORDER BY b, c LIMIT 10 FOR UPDATE OF a ",
    ]);
    expect(mutants("INSERT INTO a VALUES (1) ON CONFLICT (b) DO NOTHING RETURNING c")).toEqual([
      "INSERT INTO a VALUES (1)  RETURNING c",
    ]);
  });

  test("an insert tells nobody", () => {
    expect(mutants("WITH t AS (INSERT INTO a.b (c) SELECT d FROM e WHERE f OR g) SELECT 1")[0]).toBe(
      "WITH t AS (INSERT INTO a.b (c) SELECT d FROM e WHERE false AND ( f OR g)) SELECT 1",
    );
    expect(mutants("WITH t AS (INSERT INTO a (c) SELECT d FROM e) SELECT 1")).toEqual([
      "WITH t AS (INSERT INTO a (c) SELECT d FROM e WHERE false) SELECT 1",
    ]);
  });

  test("a list of states lacks one", () => {
    expect(mutants("SELECT WHERE state IN ('a', 'b')")).toEqual([
      "SELECT WHERE true",
      "SELECT WHERE state IN ('b')",
      "SELECT WHERE state IN ('a')",
    ]);
  });
});

test("PL/pgSQL: a condition never holds, and its CASE ends with END CASE", () => {
  expect(
    mutants("BEGIN IF NOT FOUND THEN RETURN; END IF; CASE WHEN a THEN b; WHEN c THEN d; ELSE END CASE; END"),
  ).toEqual([
    "BEGIN IF false THEN RETURN; END IF; CASE WHEN a THEN b; WHEN c THEN d; ELSE END CASE; END",
    "BEGIN IF  FOUND THEN RETURN; END IF; CASE WHEN a THEN b; WHEN c THEN d; ELSE END CASE; END",
    "BEGIN IF NOT FOUND THEN RETURN; END IF; CASE  WHEN c THEN d; ELSE END CASE; END",
    "BEGIN IF NOT FOUND THEN RETURN; END IF; CASE WHEN a THEN b;  ELSE END CASE; END",
  ]);
});

test("what is not SQL, or never closed, is said", () => {
  expect(() => changesOfSql("SELECT §")).toThrow("no SQL token");
  expect(() => changesOfSql("SELECT (1")).toThrow("not closed");
  expect(() => changesOfSql("SELECT 1)")).toThrow("nothing opened");
});
