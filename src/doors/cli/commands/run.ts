/** `bosun run` */
import { BosunError } from '../../../contract/errors.ts';
import { resolveInputs } from '../../../definition/inputs.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { leave } from '../leave.ts';
import { say } from '../output.ts';
import { withTrust } from '../with-trust.ts';
import { watch } from '../watch.ts';
import { tellWorkflow } from './check.ts';

export async function run(typed: Typed): Promise<number> {
  const checked = await withTrust(() => ask('check', inputOf('check', typed)));
  const { file: source, workflow } = checked;
  const inputs = inputsOf(typed);
  const input = inputOf('run', typed, { workflow, source, inputs });
  if (isOn(typed, 'dryRun')) {
    resolveInputs(workflow, inputs);
    tellWorkflow(checked, 'would run');
    return 0;
  }
  for (const warning of checked.warnings) say(warning, 'warning');
  if (isOn(typed, 'queue'))
    return leave(typed, () => ask('queue', inputOf('queue', typed, { workflow, source, inputs })));
  return watch(typed, (seen) => ask('run', input, { seen }));
}

function inputsOf(typed: Typed): Record<string, string> {
  const pairs = (typed.options.input ?? []) as string[];
  const inputs = new Map<string, string>();
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at <= 0)
      throw new BosunError('usage', `--input ${pair} has no value; write it as --input name=value`);
    const name = pair.slice(0, at);
    if (inputs.has(name)) throw new BosunError('usage', `--input ${name} is given twice; give it once`);
    inputs.set(name, pair.slice(at + 1));
  }
  return Object.fromEntries(inputs);
}
