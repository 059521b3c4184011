/** `bosun agent`: what an agent inside an attempt asks of the engine. */
import type { AccessAnswer, OwnerSaid, PendingAccess } from '../../../contract/access.ts';
import { BosunError } from '../../../contract/errors.ts';
import { callEngine } from '../../../crew/client.ts';
import { accessWords, inboxWords, saidWords } from '../../../crew/tools.ts';
import { isOn, type Typed } from '../command.ts';
import { safeJson } from '../../../report/text/plain.ts';
import { writeOut } from '../output.ts';

const GRANTED = 0;
const REFUSED = 1;

export async function run(typed: Typed): Promise<number> {
  const [action, ...words] = typed.args;
  const tell = (result: unknown, lines: string[]): void =>
    writeOut(isOn(typed, 'json') ? `${safeJson(result)}\n` : lines.map((line) => `${line}\n`).join(''));

  if (action === 'request-access' && words.length > 0) {
    const answer = (await callEngine('request_access', { paths: words })) as AccessAnswer;
    tell(answer, [accessWords(answer)]);
    return answer.granted ? GRANTED : REFUSED;
  }
  if (action === 'inbox' && words.length === 0) {
    const inbox = (await callEngine('inbox', {})) as { requests: PendingAccess[] };
    tell(inbox, inboxWords(inbox));
    return GRANTED;
  }
  const [id, answer] = words;
  if (action === 'answer' && words.length === 2 && (answer === 'yes' || answer === 'no')) {
    const said = (await callEngine('answer', { id, answer })) as OwnerSaid;
    tell(said, [saidWords(said)]);
    return said.accepted ? GRANTED : REFUSED;
  }
  throw new BosunError(
    'usage',
    `"${['agent', ...typed.args].join(' ')}" is nothing to ask; write: bosun agent request-access <glob>..., bosun agent inbox, bosun agent answer <id> yes|no, or bosun agent mcp`,
  );
}
