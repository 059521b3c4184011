/** How events of all runs are read in the order in which they were written: by batches, which have numbers. */
import type { FollowOptions } from './store.ts';

/** A row is the number of its batch, its run, and what every reader of events gets. */
export function followQuery({ after, run, limit, withoutOutput = false }: FollowOptions): {
  sql: string;
  values: (string | number)[];
} {
  const { batch = 0, seq = 0 } = after ?? {};
  const where = [
    'b.n >= ? AND (b.n > ? OR e.seq > ?)',
    ...(run === undefined ? [] : ['b.run = ?']),
    ...(withoutOutput ? ["e.type <> 'attempt.output'"] : []),
  ];
  // A cross join is done in the order in which it is written: what is read is already sorted.
  const sql = `SELECT b.n, e.run, e.seq, e.at_ms, e.body, e.format FROM batch b
    CROSS JOIN event e ON e.run = b.run AND e.seq BETWEEN b.first AND b.last
    WHERE ${where.join(' AND ')} ORDER BY b.n, e.seq LIMIT ?`;
  return { sql, values: [batch, batch, seq, ...(run === undefined ? [] : [run]), limit] };
}
