/** Draws a patch: a head for each file, its lines with their numbers. The numbers are no text, so that copying gives code. */
import type { DiffReport } from '../../contract/report.ts';
import { type Markup, markup } from './markup.ts';
import { readPatch, type PatchFile, type PatchLine } from '../patch/patch.ts';
import { count } from '../words.ts';

export function renderDiff(diff: DiffReport, linesMax: number): Markup {
  const lines = diff.patch.split('\n').slice(0, -1);
  const shown = lines.slice(0, linesMax);
  const left = diff.linesLeftOut + lines.length - shown.length;
  const rest =
    left > 0
      ? markup`<p class="note">${count(left, 'more line')} left out; <code>bosun diff</code> shows all.</p>`
      : null;
  return markup`${readPatch(shown).map(renderFile)}${rest}`;
}

function renderFile(file: PatchFile): Markup {
  const note = file.note === '' ? null : markup`<span class="tag">${file.note}</span>`;
  const head = markup`<summary><span class="path">${file.path || 'changes'}</span>${note}${renderLines(file.added, file.removed)}</summary>`;
  return markup`<details class="file" open>${head}<div class="scroll"><table class="diff"><tbody>${file.lines.map(renderLine)}</tbody></table></div></details>`;
}

export function renderLines(added: number, removed: number): Markup {
  return markup`<span class="delta"><span class="plus">+${added}</span> <span class="minus">−${removed}</span></span>`;
}

const SIGNS = { added: '+', removed: '-', same: ' ', hunk: '', note: '' } as const;

function renderLine({ kind, before, after, text }: PatchLine): Markup {
  if (kind === 'hunk' || kind === 'note')
    return markup`<tr class="${kind}"><td colspan="3">${text}</td></tr>
`;
  return markup`<tr class="${kind}"><td data-n="${before ?? ''}"></td><td data-n="${after ?? ''}"></td><td>${SIGNS[kind]}${text}</td></tr>
`;
}
