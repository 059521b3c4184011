/** `bosun doctor` */
import { diagnose, type Finding } from '../../../operations/doctor.ts';
import { isOn, type Typed } from '../command.ts';
import { hasColor, painter, writeError, writeOut } from '../output.ts';

const TONES = { ok: 'good', warn: 'ask', fail: 'bad' } as const;

export async function run(typed: Typed): Promise<number> {
  const findings = await diagnose({ cwd: process.cwd() });
  if (isOn(typed, 'json')) writeOut(`${JSON.stringify(findings)}\n`);
  else tell(findings);
  return findings.some(({ level }) => level === 'fail') ? 1 : 0;
}

function tell(findings: Finding[]): void {
  const paint = painter(hasColor(process.stdout));
  const width = Math.max(...findings.map(({ name }) => name.length));
  for (const { name, level, found, advice } of findings) {
    writeOut(`${paint(TONES[level], level.padEnd(4))}  ${name.padEnd(width)}  ${found}\n`);
    if (advice !== undefined) writeOut(`${' '.repeat(width + 8)}${paint('quiet', `→ ${advice}`)}\n`);
  }
  const failed = findings.filter(({ level }) => level === 'fail').map(({ name }) => name);
  writeError(
    failed.length > 0
      ? `\nbosun cannot run here before this is mended: ${failed.join(', ')}\n`
      : '\nthis machine has what bosun needs\n',
  );
}
