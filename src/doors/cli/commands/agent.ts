/** `bosun agent`: what an agent inside an attempt asks of the engine. */
import type { AccessAnswer, OwnerSaid, PendingAccess } from '../../../contract/access.ts';
import { BosunError } from '../../../contract/errors.ts';
import { callEngine } from '../../../crew/client.ts';
import { isOn, type Typed } from '../command.ts';
import { writeOut } from '../output.ts';

const GRANTED = 0;
const REFUSED = 1;

export async function run(typed: Typed): Promise<number> {
  const [action, ...words] = typed.args;
  const tell = (result: unknown, lines: string[]): void =>
    writeOut(
      isOn(typed, 'json')
        ? `${JSON.stringify(result)}\n`
        : lines.map((line) => `${onOneLine(line)}\n`).join(''),
    );

  if (action === 'request-access' && words.length > 0) {
    const answer = (await callEngine('request_access', { paths: words })) as AccessAnswer;
    const { granted, globs, why } = answer;
    tell(answer, [`${granted ? 'granted' : 'refused'}: ${globs.join(' ')} (${why})`]);
    return granted ? GRANTED : REFUSED;
  }
  if (action === 'inbox' && words.length === 0) {
    const inbox = (await callEngine('inbox', {})) as { requests: PendingAccess[] };
    tell(
      inbox,
      inbox.requests.map(({ id, task, globs }) => `${id} ${task} asks for ${globs.join(' ')}`),
    );
    return GRANTED;
  }
  const [id, answer] = words;
  if (action === 'answer' && words.length === 2 && (answer === 'yes' || answer === 'no')) {
    const said = (await callEngine('answer', { id, answer })) as OwnerSaid;
    tell(said, [`${said.accepted ? 'answered' : 'not answered'}: ${said.why}`]);
    return said.accepted ? GRANTED : REFUSED;
  }
  throw new BosunError(
    'usage',
    `"${['agent', ...typed.args].join(' ')}" is nothing to ask; write: bosun agent request-access <glob>..., bosun agent inbox, or bosun agent answer <id> yes|no`,
  );
}

/** What others said must not look like a line of ours. */
function onOneLine(text: string): string {
  return text.replaceAll(/\p{C}+/gu, ' ');
}
