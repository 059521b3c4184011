/** `bosun agent`: what an agent inside an attempt asks of the engine. What there is to ask, the crew's table says. */
import { BosunError } from '../../../contract/errors.ts';
import { callEngine } from '../../../crew/client.ts';
import {
  inputOf,
  linesOf,
  plainLine,
  REQUEST_BYTES_MAX,
  rowOf,
  TOOL_NAMES,
  usages,
} from '../../../crew/tools.ts';
import { safeJson } from '../../../report/text/plain.ts';
import { isOn, type Typed } from '../command.ts';
import { writeError, writeOut } from '../output.ts';

const YES = 0;
const NO = 1;

export async function run(typed: Typed): Promise<number> {
  const [verb, ...typedWords] = typed.args;
  const name = TOOL_NAMES.find((known) => rowOf(known).command.verb === verb);
  const isPiped = name && rowOf(name).command.readsStdin && typedWords.length === 0 && !process.stdin.isTTY;
  const words = isPiped ? [await stdinText()] : typedWords;
  const input = name && inputOf(name, words, typed.options);
  if (!name || !input) {
    const known = usages().map((usage) => `bosun agent ${usage}`);
    throw new BosunError(
      'usage',
      `"${['agent', ...typed.args].join(' ')}" is not a call; write: ${known.join(', ')}, or bosun agent mcp`,
    );
  }
  const { answer, notice } = await callEngine(name, input);
  const lines = isOn(typed, 'json') ? [safeJson(answer)] : linesOf(name, answer);
  writeOut(lines.map((line) => `${line}\n`).join(''));
  if (notice !== undefined) writeError(`${plainLine(notice)}\n`);
  return rowOf(name).isYes?.(answer) === false ? NO : YES;
}

/** No more than the engine takes. */
async function stdinText(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > REQUEST_BYTES_MAX)
      throw new BosunError(
        'usage',
        `stdin has more than ${REQUEST_BYTES_MAX} bytes, which is all that a call may have`,
      );
  }
  return Buffer.concat(chunks).toString();
}
