/** `bosun report` */
import { renderHtml } from '../../../report/html/html.ts';
import { renderJson } from '../../../report/json.ts';
import { renderTextReport } from '../../../report/text/text.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, optionText, type Typed } from '../command.ts';
import { columnsOfStream, hasColor, writeOut } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  if (isOn(typed, 'open')) {
    const { file } = await ask('reportPage', inputOf('reportPage', typed));
    writeOut(`${file}\n`);
    return 0;
  }
  const report = await ask('report', inputOf('report', typed));
  const format = isOn(typed, 'json') ? 'json' : (optionText(typed, 'format') ?? 'text');
  if (format === 'html') writeOut(renderHtml(report));
  else if (format === 'json') writeOut(renderJson(report));
  else
    writeOut(
      renderTextReport(report, { color: hasColor(process.stdout), width: columnsOfStream(process.stdout) }),
    );
  return 0;
}
