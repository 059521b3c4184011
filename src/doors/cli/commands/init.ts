/** `bosun init` */
import type { Initialised } from '../../../contract/outputs.ts';
import { TEMPLATES } from '../../../contract/templates.ts';
import { wordList } from '../../../base/word-list.ts';
import { ask, inputOf } from '../ask.ts';
import { isOn, type Typed } from '../command.ts';
import { writeError, writeOut } from '../output.ts';

export async function run(typed: Typed): Promise<number> {
  if (isOn(typed, 'mcp')) return (await import('./init-mcp.ts')).run(typed);
  if (isOn(typed, 'list')) return list();
  const done = await ask('init', inputOf('init', typed));
  const { file, written, trusted } = done;
  if (!written) {
    writeError(`${file} is there already and stays as it is; check it with: bosun check\n`);
    return 0;
  }
  writeOut(`${file}\n`);
  writeError(
    `wrote ${file}${madeOf(done)}; run it with: bosun run${(done.needs ?? []).map(inputWords).join('')}\n`,
  );
  if (trusted)
    writeError(
      'this repository has only your commits, so its workflows are trusted until it gets a remote; to be asked: bosun trust --remove\n',
    );
  if (done.install !== undefined)
    writeError(`the tests need node_modules, which is not here yet; before the first run: ${done.install}\n`);
  if (done.lacks !== undefined) writeError(`${LACKS[done.lacks]}\n`);
  for (const line of hints(done)) writeError(`${line}\n`);
  return 0;
}

const LACKS: Record<NonNullable<Initialised['lacks']>, string> = {
  repository:
    'this directory is in no git repository, and a run starts from a commit: git init && git add -A && git commit -m first',
  commit: 'this repository has no commit yet, and a run starts from one: git add -A && git commit -m first',
};

function list(): number {
  const width = Math.max(...Object.keys(TEMPLATES).map((name) => name.length));
  for (const [name, about] of Object.entries(TEMPLATES)) writeOut(`${name.padEnd(width)}  ${about}\n`);
  return 0;
}

function inputWords(name: string): string {
  return ` --input ${name}="…"`;
}

function madeOf({ template, agent, check }: Initialised): string {
  if (template === 'hello') return '';
  return ` (${[template, agent, check].filter((word) => word !== undefined).join(', ')})`;
}

/** What else could be written with what is here. */
function hints({ template, agent, installed = [], check }: Initialised): string[] {
  if (template !== 'hello') return agent === 'cli' ? [] : ['whether its agent has a key: bosun doctor'];
  if (installed.length === 0) return [];
  const found = wordList([...installed, ...(check === undefined ? [] : [check])], 'and');
  const next = check === undefined ? 'review' : 'fix-tests';
  return [`found here: ${found}; to start with an agent: rm bosun.yaml && bosun init --template ${next}`];
}
