/** `bosun doctor` */
import type { Finding } from '../../../operations/doctor/finding.ts';
import { columnsOf, padColumns } from '../../../report/text/columns.ts';
import { plainLine, safeJson } from '../../../report/text/plain.ts';
import { ask } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { columnsOfStream, hasColor, painter, writeError, writeOut } from '../output.ts';

const TEXT_COLUMNS_MIN = 30;
const TONES = { ok: 'good', warn: 'ask', fail: 'bad', none: 'quiet' } as const;

export async function run(typed: Typed): Promise<number> {
  const findings = await ask('doctor', {});
  if (isOn(typed, 'json')) writeOut(`${safeJson(findings)}\n`);
  else tell(findings);
  return findings.some(({ level }) => level === 'fail') ? 1 : 0;
}

function tell(findings: Finding[]): void {
  const paint = painter(hasColor(process.stdout));
  const nameColumns = Math.max(...findings.map(({ name }) => name.length));
  const margin = ' '.repeat(nameColumns + 8);
  const columns = Math.max(TEXT_COLUMNS_MIN, columnsOfStream(process.stdout) - margin.length - 1);
  for (const { name, level, found, advice } of findings) {
    const [first = '', ...rest] = wrap(found, columns);
    writeOut(`${paint(TONES[level], level.padEnd(4))}  ${padColumns(name, nameColumns)}  ${first}\n`);
    for (const line of rest) writeOut(`${margin}${line}\n`);
    if (advice === undefined) continue;
    wrap(advice, columns - 2).forEach((line, n) =>
      writeOut(`${margin}${paint('quiet', `${n === 0 ? '→' : ' '} ${line}`)}\n`),
    );
  }
  writeError(`\n${verdict(findings)}\n`);
}

function verdict(findings: Finding[]): string {
  const named = (level: Finding['level']): string[] =>
    findings.filter((finding) => finding.level === level).map(({ name }) => name);
  if (named('fail').length > 0) return `fix these first: ${named('fail').join(', ')}`;
  if (named('warn').includes('isolation'))
    return 'bosun works here, but agents are NOT FENCED: they can do whatever you can';
  if (named('warn').length > 0) return `this machine is ready; could be better: ${named('warn').join(', ')}`;
  return 'this machine is ready';
}

/** At blanks; a word that is longer than a line is left whole, so that it can be copied. */
function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of plainLine(text).split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && columnsOf(last) + 1 + columnsOf(word) <= columns)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
