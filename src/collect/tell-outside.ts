/** Tells an agent which of its changes its scope did not allow. */
import type { LeftOut } from '../contract/run.ts';

const FILES_SHOWN_MAX = 20;

/** To be put after a sentence; empty where there is nothing to tell. */
export function tellOutside(outside: LeftOut | undefined): string {
  if (!outside) return '';
  const shown = outside.files.slice(0, FILES_SHOWN_MAX);
  const left = outside.count - shown.length;
  const names = shown.map(({ path, why }) => `${path} (${why})`).join(', ');
  return ` These changes were left out, because your scope does not allow them: ${names}${left > 0 ? ` and ${left} more` : ''}.`;
}
