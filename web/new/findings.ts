/** What `bosun doctor` found, as the page uses it. */
import type { z } from 'zod';
import type { Findings } from '../../src/contract/outputs.ts';

export type Finding = z.output<typeof Findings>[number];

/** The whole isolation in one line, the worst of it. */
export function fencesOf(findings: readonly Finding[]): Finding | undefined {
  const own = findings.filter(({ name }) => name === 'isolation');
  return own.find(({ level }) => level === 'fail') ?? own.find(({ level }) => level === 'warn') ?? own[0];
}
