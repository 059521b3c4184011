/** A number as people read it: 10,000. Node's own way loads tables for 30 ms first. */
export function grouped(number: number): string {
  return String(number).replace(/\B(?=(?:\d{3})+(?:\.|$))/g, ',');
}
