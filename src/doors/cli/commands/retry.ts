/** `bosun retry` */
import { retryTask } from '../../../operations/run.ts';
import { given, textOf, type Typed } from '../command.ts';
import { watch } from '../watch.ts';

export async function run(typed: Typed): Promise<number> {
  const task = typed.args[0]!;
  const of = { cwd: process.cwd(), ...given('run', textOf(typed, 'run')) };
  return watch(typed, (options) => retryTask({ ...of, task, ...options }), { earlier: of });
}
