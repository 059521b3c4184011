/**
 * The runtime for plain commands: the prompt comes on stdin, in a file and where its words say so, the output goes to a file that
 * BOSUN_OUTPUT names. Also runs the commands of `run` tasks.
 */
import { constants as modes, open, rm, writeFile } from 'node:fs/promises';
import { lstatSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { JSON_MOST, parseJson, shapeOf } from '../../base/parse-json.ts';
import { BosunError } from '../../contract/errors.ts';
import { failed, runCommand, type CommandEnd } from '../agent/command.ts';
import { usagePrinted } from './usage.ts';
import { fillWords } from './words.ts';
import type { Job, Result, Runtime } from '../runtime.ts';

const OUTPUT_FILE_BYTES_MAX = 1024 * 1024;
const TOO_MUCH = `its output is JSON with more than ${JSON_MOST}`;

export const cli: Runtime = {
  async run(job: Job): Promise<Result> {
    const [outputFile, promptFile] = [path.join(job.files, 'output'), path.join(job.files, 'prompt')];
    const prompt = job.agent ? promptOf(job) : '';
    if (job.agent) await writeFile(promptFile, prompt);
    const env = {
      ...job.env,
      BOSUN_OUTPUT: outputFile,
      ...(job.agent && { BOSUN_PROMPT: promptFile }),
    };
    const ended = await runFilled(job, { env, prompt, promptFile });
    if (job.agent) await rm(promptFile, { force: true });
    const usage = job.agent?.usage && usagePrinted(job.agent.usage, ended);
    if (usage) job.emit(usage);
    const result = await readOutput(job, outputFile, ended.stdoutTail);
    return ended.outcome.kind === 'done' ? result : { outcome: ended.outcome, output: null };
  },
};

async function runFilled(
  job: Job,
  { env, prompt, promptFile }: { env: Record<string, string>; prompt: string; promptFile: string },
): Promise<CommandEnd> {
  const command = job.agent ? job.agent.command! : job.prompt;
  try {
    const { argv, hasPrompt } =
      typeof command === 'string'
        ? { argv: ['/bin/sh', '-c', command], hasPrompt: false }
        : fillWords(command, { prompt, 'prompt-file': promptFile, model: job.agent?.model });
    return await runCommand({
      ...job,
      argv,
      env,
      input: hasPrompt ? '' : prompt,
      streams: ['stdout', 'stderr'],
    });
  } catch (error) {
    if (!(error instanceof BosunError)) throw error;
    return { outcome: failed('start', error.message), stdoutTail: '', stderrTail: '' };
  }
}

/** An agent that keeps no memory of its own is told everything again. */
function promptOf({ agent, prompt, feedback, added }: Job): string {
  return [agent?.prompt, prompt, feedback, added].filter(Boolean).join('\n\n');
}

/** Text, but where a structure was asked for and is all that was printed. */
function printedOutput({ schema }: Job, printed: string): Result['output'] {
  if (printed === '') return null;
  return schema && /^[[{]/.test(printed) ? (parseJson(printed, shapeOf(printed)) ?? printed) : printed;
}

/** The file that BOSUN_OUTPUT names, which is then gone, else what was printed. JSON where it is JSON. */
async function readOutput(job: Job, file: string, printed: string): Promise<Result> {
  let text: string;
  const isThere = lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  try {
    if (!isThere) return { outcome: { kind: 'done' }, output: printedOutput(job, printed.trim()) };
    // The file is the agent's: no link is followed, no pipe is waited for.
    await using handle = await open(file, modes.O_RDONLY | modes.O_NOFOLLOW | modes.O_NONBLOCK);
    if (!(await handle.stat()).isFile()) {
      return { outcome: failed('output', 'its output file is not a plain file'), output: null };
    }
    const buffer = Buffer.alloc(OUTPUT_FILE_BYTES_MAX + 1);
    const { bytesRead } = await handle.read(buffer);
    if (bytesRead > OUTPUT_FILE_BYTES_MAX) {
      return {
        outcome: failed('output', `its output file is larger than ${OUTPUT_FILE_BYTES_MAX} bytes`),
        output: null,
      };
    }
    text = buffer.toString('utf8', 0, bytesRead);
  } catch (error) {
    const why = (error as Error).message;
    return { outcome: failed('output', `its output file cannot be read: ${why}`), output: null };
  } finally {
    if (isThere) await rm(file, { recursive: true, force: true });
  }
  const shape = shapeOf(text);
  if (shape.isTooMuch && /^\s*[[{]/.test(text)) {
    if (job.schema) return { outcome: failed('output', TOO_MUCH), output: null };
    await job.output.read(Readable.from([Buffer.from(`bosun: ${TOO_MUCH}; it is kept as text\n`)]), 'stderr');
  }
  const output = parseJson(text, shape);
  return {
    outcome: { kind: 'done' },
    output: output === undefined ? text.trimEnd() : output,
    isStructured: true,
  };
}
