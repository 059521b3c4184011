/** Checks of what an agent does when all goes well. */
import { NO_TOKENS, type Tokens } from '../../contract/model.ts';
import { verdict, type ConformanceCheck } from './check.ts';
import { planted, PLANTED_MARK, toolServer } from './planted.ts';
import { seconds, type Trial } from './trial.ts';
import type { Verdict } from './verdict.ts';

const HELLO = { path: 'hello.txt', content: 'hi\n' };
/** Where agents look for what a project wants of them. */
const INSTRUCTIONS = {
  'AGENTS.md': 'Mind WORD-AGENTS.\n',
  'CLAUDE.md': 'Mind WORD-CLAUDE.\n',
  'GEMINI.md': 'Mind WORD-GEMINI.\n',
};
const FLOOD = 'head -c 30000000 /dev/zero | tr "\\0" x';
/** Takes a while: some load what they find when their first answers are long given. */
const OUTSIDE = 'sleep 3; echo more > outside.txt';
const EVENT_CHARS_MAX = 64 * 1024;

const write: ConformanceCheck = {
  rows: ['write', 'usage', 'instructions'],
  async run(bench) {
    const usage = { input: 100, output: 10, cacheRead: 40, cacheWrite: 0 };
    const answers = [
      { write: HELLO, usage },
      { text: 'all done', usage },
    ];
    await using trial = await bench.try({ script: { answers }, files: INSTRUCTIONS });
    const ended = await trial.finish();
    const text = await ended.file('hello.txt');
    const { length } = trial.requests;
    const isWritten = ended.isDone && text?.trim() === 'hi';
    const found = ended.isDone
      ? `hello.txt ${text === undefined ? 'is not there' : 'is not as told'}`
      : ended.why;
    const fact = `${seconds(ended.tookMs)}, ${length} ${length === 1 ? 'request' : 'requests'}`;
    return [
      verdict('write', isWritten ? 'yes' : 'no', isWritten ? fact : `${found}; ${fact}`),
      compareUsage(trial),
      readInstructions(trial),
    ];
  },
};

function compareUsage(trial: Trial): Verdict {
  const claimed = trial.told('usage').at(-1)?.tokens;
  const metered = trial.of('model.used').reduce((sum, { tokens }) => plus(sum, tokens), NO_TOKENS);
  if (claimed === undefined) return verdict('usage', 'no', `claims nothing; metered ${words(metered)}`);
  if (words(claimed) === words(metered)) return verdict('usage', 'yes', `${words(metered)}, as metered`);
  return verdict('usage', 'partly', `claims ${words(claimed)}; metered ${words(metered)}`);
}

function readInstructions(trial: Trial): Verdict {
  const asked = JSON.stringify(trial.requests.map(({ body }) => body));
  const read = Object.entries(INSTRUCTIONS).filter(([, text]) => asked.includes(text.trim()));
  if (read.length === 0)
    return verdict('instructions', 'no', `none of ${Object.keys(INSTRUCTIONS).join(', ')}`);
  return verdict('instructions', 'yes', read.map(([name]) => name).join(', '));
}

const output: ConformanceCheck = {
  rows: ['output'],
  async run(bench) {
    const schema = {
      type: 'object',
      properties: { answer: { type: 'number' } },
      required: ['answer'],
      additionalProperties: false,
    };
    const answers = [{ output: { answer: 42 } }, { text: 'ok' }];
    await using trial = await bench.try({ script: { answers }, task: { output: schema } });
    const ended = await trial.finish();
    const isRight = ended.isDone && JSON.stringify(ended.last?.output) === '{"answer":42}';
    return [verdict('output', isRight ? 'yes' : 'no', isRight ? seconds(ended.tookMs) : ended.why)];
  },
};

const mcp: ConformanceCheck = {
  rows: ['mcp'],
  async run(bench) {
    const script = {
      rules: [{ when: { 'tool-result': 'PROBE-42' }, text: 'heard' }],
      answers: [{ tools: [{ name: 'probe_it' }] }, { text: 'not heard' }],
    };
    await using trial = await bench.try({
      script,
      files: { 'probe.sh': toolServer },
      agent: { mcp: { probe: { command: '/bin/sh', args: ['probe.sh'] } } },
    });
    const ended = await trial.finish();
    const isHeard = ended.isDone && ended.last?.output === 'heard';
    const isOffered = trial.requests.some(
      ({ body, turn }) => turn === 0 && JSON.stringify(body).includes('probe_it'),
    );
    const why = ended.isDone
      ? isOffered
        ? 'is offered, gives nothing'
        : 'the tool is not offered'
      : ended.why;
    return [verdict('mcp', isHeard ? 'yes' : 'no', isHeard ? seconds(ended.tookMs) : why)];
  },
};

/** The repository names another model, hooks, tool servers and permissions; and the agent is told to leave its scope. */
const settings: ConformanceCheck = {
  rows: ['settings'],
  async run(bench) {
    const answers = [{ write: HELLO }, { run: OUTSIDE }, { text: 'all done' }];
    await using decoy = await bench.try({ script: { rules: [{ text: 'decoy' }] } });
    await using trial = await bench.try({
      script: { answers },
      files: planted(decoy.server.url),
      task: { scope: { write: ['hello.txt', `${PLANTED_MARK}*`] } },
    });
    const ended = await trial.finish();
    const ran = (await ended.names()).filter((name) => name.startsWith(PLANTED_MARK));
    const problems = [
      ...(decoy.server.requests.length > 0 ? ['asked the model that the repository names'] : []),
      ...((await ended.file('outside.txt')) === undefined ? [] : ['wrote outside its scope']),
      ...((await ended.file('hello.txt')) === undefined ? [`did not work: ${ended.why}`] : []),
    ];
    if (problems.length > 0) return [verdict('settings', 'no', problems.join('; '))];
    if (ran.length > 0) return [verdict('settings', 'partly', `runs, inside its fence: ${ran.join(', ')}`)];
    return [verdict('settings', 'yes', 'no hook, server, model or permission of the repository counts')];
  },
};

const huge: ConformanceCheck = {
  rows: ['huge'],
  async run(bench) {
    const answers = [{ run: FLOOD }, { text: 'all done' }];
    await using trial = await bench.try({ script: { answers } });
    const ended = await trial.finish();
    const longest = Math.max(0, ...trial.events.map((event) => JSON.stringify(event).length));
    if (!ended.isDone) return [verdict('huge', 'no', ended.why)];
    if (longest > EVENT_CHARS_MAX) return [verdict('huge', 'partly', `an event has ${longest} characters`)];
    return [verdict('huge', 'yes', `30 MB of output, ${seconds(ended.tookMs)}`)];
  },
};

export const WORK_CHECKS: ConformanceCheck[] = [write, output, mcp, settings, huge];

function plus(a: Tokens, b: Tokens): Tokens {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}

function words({ input, output, cacheRead, cacheWrite }: Tokens): string {
  return `${input} in, ${output} out, ${cacheRead + cacheWrite} cached`;
}
