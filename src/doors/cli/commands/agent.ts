/** `bosun agent`: what an agent inside an attempt asks of the engine. What there is to ask, the crew's table says. */
import { open } from 'node:fs/promises';
import { BosunError } from '../../../contract/errors.ts';
import { callTool, isInside } from '../../../crew/client.ts';
import {
  toolInput,
  keyOf,
  linesOf,
  withoutControls,
  REQUEST_BYTES_MAX,
  rowOf,
  TOOL_NAMES,
  options as toolOptions,
  usages,
  type ToolName,
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
  const options = name ? await withFile(name, typed.options) : typed.options;
  const input = name && toolInput(name, words, options);
  if (!isInside())
    throw new BosunError(
      'wrong-state',
      '"bosun agent" is for agents: it works only inside an attempt of a run. To message an agent from here: bosun steer <task> <message>; to see what agents say to each other: bosun status --messages',
    );
  if (name && !input) throw misused(name, typed);
  if (!name || !input) {
    const known = usages().map((usage) => `bosun agent ${usage}`);
    throw new BosunError(
      'usage',
      `"${['agent', ...typed.args].join(' ')}" is not a call; write: ${known.join(', ')}, or bosun agent mcp`,
    );
  }
  const { answer, notice } = await callTool(name, input);
  const lines = isOn(typed, 'json') ? [safeJson(answer)] : linesOf(name, answer);
  writeOut(lines.map((line) => `${line}\n`).join(''));
  if (notice !== undefined) writeError(`${withoutControls(notice)}\n`);
  return rowOf(name).isYes?.(answer) === false ? NO : YES;
}

function misused(name: ToolName, { args, options }: Typed): BosunError {
  const { verb, usage, options: flags = {}, fromFile } = rowOf(name).command;
  const own = [...Object.values(flags), ...(fromFile ? [fromFile.option] : [])].map(([flag]) => flag);
  const known = new Set(own.map(keyOf));
  const other = toolOptions().find(({ flags: flag }) => {
    const key = keyOf(flag);
    return !known.has(key) && options[key] !== undefined;
  });
  const why = other
    ? `--${keyOf(other.flags)} is not an option of "bosun agent ${verb}"`
    : `"${['agent', ...args].join(' ')}" is not a call`;
  const call = [`bosun agent ${verb} ${usage}`.trim(), ...own.map((flag) => `[${flag}]`)].join(' ');
  return new BosunError('usage', `${why}; write: ${call}`);
}

/** Where a file is named, its text is the value of the option that it stands for. */
async function withFile(name: ToolName, options: Typed['options']): Promise<Typed['options']> {
  const { options: flags = {}, fromFile } = rowOf(name).command;
  if (!fromFile) return options;
  const { [keyOf(fromFile.option[0])]: file, ...others } = options;
  if (typeof file !== 'string') return others;
  const field = keyOf(flags[fromFile.field]![0]);
  if (others[field] !== undefined)
    throw new BosunError('usage', `--${field} and --file cannot be used together; remove one of them`);
  return { ...others, [field]: file === '-' ? await stdinText() : await fileText(file) };
}

async function fileText(file: string): Promise<string> {
  try {
    const handle = await open(file);
    try {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(REQUEST_BYTES_MAX + 1));
      if (bytesRead > REQUEST_BYTES_MAX) throw tooMuch(file);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (cause) {
    if (cause instanceof BosunError) throw cause;
    throw new BosunError('usage', `cannot read ${file}: ${(cause as Error).message}`, { cause });
  }
}

/** No more than the engine takes. */
async function stdinText(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > REQUEST_BYTES_MAX) throw tooMuch('stdin');
  }
  return Buffer.concat(chunks).toString();
}

function tooMuch(what: string): BosunError {
  return new BosunError('usage', `${what} has more than ${REQUEST_BYTES_MAX} bytes, the limit for a call`);
}
