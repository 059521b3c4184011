/** `bosun wait` */
import { shellWord } from '../../../base/shell-word.ts';
import { answerWords, listChoices } from '../../../contract/question.ts';
import type { RunView } from '../../../contract/run.ts';
import { inOneLine, plainLine } from '../../../report/text/plain.ts';
import { ask, inputOf } from '../ask.ts';
import type { Typed } from '../command.ts';
import { exitOf } from '../exit-codes.ts';
import { tellDefault, tellPause } from '../figures.ts';
import { say } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  const ended = await ask('wait', inputOf('wait', typed), {
    needsPerson: (run) => tellNeeds(run, Date.now()).forEach((line) => say(line)),
  });
  for (const { id, state } of ended) say(`run ${id} is ${state}`);
  // Of several, that of the first that did not end well.
  return ended.map(exitOf).find((code) => code !== 0) ?? 0;
}

/** What a person has to do for the run to go on. */
function tellNeeds({ id, paused, questions }: RunView, nowMs: number): string[] {
  const isPaused =
    paused && `run ${id} is paused (${tellPause(paused, nowMs)}); continue with: bosun resume ${id}`;
  const asked = questions.map((question) => {
    const { id: name, text, task, label = task } = question;
    const otherwise = tellDefault(question, nowMs);
    const how = `bosun answer ${shellWord(name)} ${answerWords(question)} --run ${id}`;
    const what = [inOneLine(text), plainLine(listChoices(question))].filter(Boolean).join('  ');
    return `${plainLine(label)} of run ${id} asks: ${what}; answer with: ${how}${otherwise && ` (else ${otherwise})`}`;
  });
  return [...(isPaused ? [isPaused] : []), ...asked];
}
