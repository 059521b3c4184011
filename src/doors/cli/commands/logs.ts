/** `bosun logs` */
import { logs } from '../../../operations/logs.ts';
import { given, isOn, textOf, type Typed } from '../command.ts';
import { EventLines } from '../event-lines.ts';
import { hasColor, painter, writeOut } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const asJson = isOn(typed, 'json');
  const lines = new EventLines({ paint: painter(hasColor(process.stdout)), withOutput: true });
  const pages = logs({
    cwd: process.cwd(),
    follow: isOn(typed, 'follow'),
    ...given('run', typed.args[0]),
    ...given('task', textOf(typed, 'task')),
  });
  for await (const page of pages) {
    writeOut(
      page.map((recorded) => (asJson ? `${JSON.stringify(recorded)}\n` : lines.render(recorded))).join(''),
    );
  }
  return 0;
}
