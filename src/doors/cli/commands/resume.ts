/** `bosun resume` */
import { resumeRun } from '../../../operations/run.ts';
import { given, type Typed } from '../command.ts';
import { watch } from '../watch.ts';

export async function run(typed: Typed): Promise<number> {
  const of = { cwd: process.cwd(), ...given('run', typed.args[0]) };
  return watch(typed, (options) => resumeRun({ ...of, ...options }), { earlier: of });
}
