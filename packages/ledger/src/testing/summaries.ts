import type { TestDatabase } from "../../../../tests/support/database.ts";

/** Keeps autovacuum from summarising pages for the BRIN indexes: it scans them for that, which counts as a scan of the table. */
export const summariseNothing = ({ sql }: Pick<TestDatabase, "sql">): Promise<unknown> => sql`
  DO $$ DECLARE v_index regclass; BEGIN
    FOR v_index IN SELECT c.oid FROM pg_class c JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'brin' LOOP
      EXECUTE format('ALTER INDEX %s SET (autosummarize = off)', v_index);
    END LOOP;
  END $$`;
