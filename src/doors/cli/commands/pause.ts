/** `bosun pause` */
import { shellWord } from '../../../base/shell-word.ts';
import type { PauseHow } from '../../../contract/event.ts';
import type { Paused } from '../../../contract/outputs.ts';
import { safeJson } from '../../../report/text/plain.ts';
import { count } from '../../../report/words.ts';
import { ask, inputOf } from '../ask.ts';
import { given, isOn, type Typed } from '../command.ts';
import { tellPause } from '../../../report/text/figures.ts';
import { writeError, writeOut } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const paused = await ask('pause', inputOf('pause', typed, given('name', typed.args[0])));
  if (isOn(typed, 'json')) writeOut(`${safeJson(paused)}\n`);
  else writeError(`${tell(paused)}\n`);
  return 0;
}

function tell({ run, task, paused, isAlready, attempts }: Paused): string {
  const what = task === undefined ? `run ${run}` : `task ${task} of run ${run}`;
  const own = paused.with ?? task;
  const next = `continue with: bosun resume ${own === undefined ? run : `${shellWord(own)} --run ${run}`}`;
  if (isAlready) return `${what} was paused already, ${tellPause(paused, Date.now())}; ${next}`;
  const told = (['stop', 'hold', 'finish'] as const).flatMap((how) => {
    const those = attempts.filter((attempt) => attempt.how === how).length;
    return those === 0 ? [] : [WORDS[how](those)];
  });
  return `${what} is paused${told.length > 0 ? `: ${told.join(', ')}` : ''}; ${next}`;
}

const WORDS: Record<PauseHow, (number: number) => string> = {
  stop: (number) => `${count(number, 'agent')} ${number === 1 ? 'stops' : 'stop'}, to continue later`,
  hold: (number) => `${count(number, 'agent')} ${number === 1 ? 'waits' : 'wait'} at the next model request`,
  finish: (number) => `${count(number, 'command')} ${number === 1 ? 'runs' : 'run'} to the end`,
};
