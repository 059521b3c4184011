/** Where somebody stands in the events of a repository, as the server spells it: `<batch>.<seq>`. */

/** Of two places. */
export function isAfter(cursor: string, other: string): boolean {
  const [batch, seq] = numbersOf(cursor);
  const [otherBatch, otherSeq] = numbersOf(other);
  return batch > otherBatch || (batch === otherBatch && seq > otherSeq);
}

function numbersOf(cursor: string): [number, number] {
  const at = cursor.indexOf('.');
  return [Number(cursor.slice(0, at)), Number(cursor.slice(at + 1))];
}
