/** What `bosun doctor` finds in a repository. It tries things on the machine, so it is not asked again for a while. */
import { useEffect } from 'react';
import { repositoryPath } from '../data/api.ts';
import { useAsked, type Answered } from '../parts/use-asked.ts';
import type { Finding } from './findings.ts';

const KEPT_MS = 5 * 60_000;
const kept = new Map<string, { atMs: number; findings: Finding[] }>();

export function useDoctor(repository: string): Answered<Finding[]> {
  const known = kept.get(repository);
  const isKnown = known !== undefined && Date.now() - known.atMs < KEPT_MS;
  const asked = useAsked<Finding[]>(isKnown ? null : `${repositoryPath(repository)}/doctor`);
  const found = asked.state === 'answered' ? asked.value : undefined;
  useEffect(() => {
    if (found) kept.set(repository, { atMs: Date.now(), findings: found });
  }, [repository, found]);
  return isKnown ? { state: 'answered', value: known.findings } : asked;
}
