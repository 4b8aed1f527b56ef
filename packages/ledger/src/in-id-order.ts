/**
 * Rows in their ids' order: every bulk statement locks so, and two of them never wait for each other. It is the order in
 * which they were recorded, too.
 */
export const inIdOrder = <Row extends { id: string }>(rows: readonly Row[]): Row[] =>
  rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
