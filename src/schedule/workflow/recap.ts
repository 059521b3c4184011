/** What an agent is told of its conversation that grew too long for its model, where it goes on in a new one. Pure. */
import type { Node, State } from '../state.ts';
import type { PromptContext } from './prompt-context.ts';
import { textOf } from './said.ts';

/** In place of a summary by an agent: how the story begins, and as much of its end as there is room for. */
const OUTLINE_CHARS_MAX = 8000;
const HEAD_CHARS_MAX = 4000;

/** One that goes on in the same files is told again what its last attempt was told. */
export function recapOf(state: State, { next, started }: Node, context: PromptContext): string | undefined {
  if (next?.story === undefined) return next?.continues === undefined ? undefined : started?.recap;
  const { attempt, text: inline = '', textRef } = next.story;
  const story = textRef ? textOf(state.read(textRef)) : inline;
  return [
    'You have worked on this before. Your conversation grew too long for your model, so this is a new one; your files are as you left them. Look at them and go on, and do not begin again. What happened so far:',
    story.length <= OUTLINE_CHARS_MAX
      ? story
      : context.sumUp(story, `your conversation in attempt ${attempt}`, () => outlineOfStory(story)),
  ].join('\n\n');
}

/** A story begins with what is known of the whole, up to an empty line; then come its steps. */
function outlineOfStory(story: string): string {
  const end = story.indexOf('\n\n');
  const head = story.slice(0, Math.min(end < 0 ? HEAD_CHARS_MAX : end, HEAD_CHARS_MAX)).toWellFormed();
  const steps = story.slice(Math.max(head.length, story.length - (OUTLINE_CHARS_MAX - head.length)));
  const whole = steps.slice(steps.indexOf('\n') + 1).toWellFormed();
  return `${head}\n\n… (${story.length - head.length - whole.length} characters left out)\n${whole}`;
}
