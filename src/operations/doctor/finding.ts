/** One thing that the doctor found out. Types only. */

export interface Finding {
  name: string;
  /** `fail`: something needed is missing, or a fence does not hold; `warn`: it works, but less well. */
  level: 'ok' | 'warn' | 'fail';
  found: string;
  /** What to do about it. */
  advice?: string;
}
