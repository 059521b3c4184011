/** Names of files in a line about an event: a few of them, and how many there are. */
import type { LeftOut } from '../../contract/run.ts';
import { count, shortCommit } from '../words.ts';

const FILES_SHOWN_MAX = 3;

export function outsideOf(outside: LeftOut | undefined): string {
  if (!outside) return '';
  const names = filesOf(
    outside.files.map(({ path }) => path),
    outside.count,
  );
  return `, ${count(outside.count, 'file')} outside the scope left out: ${names} (kept in ${shortCommit(outside.snapshot)})`;
}

export function filesOf(files: string[], total = files.length): string {
  const shown = files.slice(0, FILES_SHOWN_MAX).join(', ');
  return total > FILES_SHOWN_MAX ? `${shown} and ${total - FILES_SHOWN_MAX} more` : shown;
}
