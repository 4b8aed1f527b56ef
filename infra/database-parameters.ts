import { settings } from "./stage.ts";

/**
 * PostgreSQL's parameters, for a table that is a queue: small rows, each changed some times and then left alone. Most
 * of what it needs stands on the tables (fillfactor, autovacuum), see migrations/.
 */
const values: Record<string, string> = {
  "rds.force_ssl": "1",
  /** Fixed, and not by the instance's memory: the functions' connections are counted against it. */
  max_connections: String(settings.database.maxConnections),

  /** What SQS accepted and a provider sent must be known after a crash. */
  synchronous_commit: "on",
  /** After each checkpoint a page's first change is logged whole: seldom ones cost the least WAL. In seconds, and MB. */
  checkpoint_timeout: "900",
  max_wal_size: "4096",

  /** Dead rows in the index of what is owed slow every sweep: looked for often, and cleaned without long pauses. */
  autovacuum_naptime: "15",
  autovacuum_vacuum_cost_limit: "2000",
  /** gp3 reads at random about as fast as in order. */
  random_page_cost: "1.1",

  /** One forgotten transaction would keep every dead row. Milliseconds; RDS's own is a day. */
  idle_in_transaction_session_timeout: "60000",
  /** A frozen function's connection is given up after two minutes: it answers no more. Seconds. */
  tcp_keepalives_idle: "60",
  tcp_keepalives_interval: "10",
  tcp_keepalives_count: "6",

  /** Milliseconds from which a statement is worth a line, and who waits for a lock. */
  log_min_duration_statement: "1000",
  log_lock_waits: "1",
  /** No address, name or text in the log: neither parameters, nor the row in an error's detail, nor its statement. */
  log_parameter_max_length: "0",
  log_error_verbosity: "terse",
  log_min_error_statement: "panic",
};

/** Those that take a restart, which RDS must not be asked for at once. */
const fixed = new Set(["max_connections", "rds.force_ssl"]);

export const parameters = Object.entries(values).map(([name, value]) => ({
  name,
  value,
  applyMethod: fixed.has(name) ? "pending-reboot" : "immediate",
}));
