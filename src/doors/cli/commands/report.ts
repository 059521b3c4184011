/** `bosun report` */
import { reportOf, reportPage } from '../../../operations/report.ts';
import { renderHtml } from '../../../report/html/html.ts';
import { renderJson } from '../../../report/json.ts';
import { renderTextReport } from '../../../report/text/text.ts';
import { given, isOn, textOf, type Typed } from '../command.ts';
import { columnsOfStream, hasColor, writeOut } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const of = { cwd: process.cwd(), ...given('run', typed.args[0]) };
  if (isOn(typed, 'open')) {
    writeOut(`${await reportPage(of)}\n`);
    return 0;
  }
  const report = await reportOf(of);
  const format = isOn(typed, 'json') ? 'json' : (textOf(typed, 'format') ?? 'text');
  if (format === 'html') writeOut(renderHtml(report));
  else if (format === 'json') writeOut(renderJson(report));
  else
    writeOut(
      renderTextReport(report, { color: hasColor(process.stdout), width: columnsOfStream(process.stdout) }),
    );
  return 0;
}
