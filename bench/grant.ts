/**
 * How soon a yes reaches the process that waits for it: an agent asks for directories of the repository, one after
 * the other, while a process of its own tries all along to write there. The time is from the answer, as the journal
 * dates it, to that process's first success, by its own clock; in between lie the journal's commit, the grant itself,
 * and the millisecond that the writer sleeps between two tries.
 */
import { Bosun, workflow } from '../src/index.ts';
import { below, median, progress, roundsOr, type Bench, type Figure } from './measure.ts';
import { makeRepository } from './repository.ts';

const GRANTS = 20;
/** As many as have that many parts; see repository.ts. */
const FILES = GRANTS * 50;
const ROUNDS = 3;
const GOAL_MS = 100;

const PARTS = Array.from({ length: GRANTS }, (_, index) => `src/part-${index}`);

/** Prints for each directory how often it was refused and when a write succeeded, in milliseconds since 1970. */
const AGENT = `
use Time::HiRes qw(time sleep);
$| = 1;
for my $directory (@ARGV) {
  my $writer = fork // die;
  if ($writer == 0) {
    my $refused = 0;
    until (open my $file, ">", "$directory/new") { $refused += 1; sleep 0.001 }
    printf "%s %d %.3f\\n", $directory, $refused, time * 1000;
    exit;
  }
  system("bosun", "agent", "request-access", "$directory/**") == 0 or die "refused";
  waitpid $writer, 0;
}
`;

export const bench: Bench = {
  name: 'grant',
  about: `from the answer to a request for access to the first write that it lets through, ${GRANTS} times`,
  async *figures(): AsyncIterable<Figure> {
    const repo = await makeRepository(FILES);
    const taken: number[] = [];
    for (let round = 0; round < roundsOr(ROUNDS); round += 1) taken.push(...(await grantsMs(repo)));
    progress(`${taken.length} grants: ${taken.map((ms) => ms.toFixed(1)).join(' ')} ms`);
    yield below({ name: 'an access grant, median', value: median(taken), baseline: GOAL_MS });
    yield below({ name: 'an access grant, worst', value: Math.max(...taken), baseline: GOAL_MS });
  },
};

async function grantsMs(repo: string): Promise<number[]> {
  const answered = new Map<string, number>();
  let printed = '';
  const asking = workflow({
    name: 'grants',
    tasks: {
      ask: {
        prompt: 'ask',
        agent: {
          runtime: 'cli',
          command: ['perl', '-e', AGENT, ...PARTS],
          scope: { write: [], grant: PARTS.map((part) => `${part}/**`) },
        },
      },
    },
  });
  const run = await new Bosun(repo).run(asking, {
    seen(events) {
      for (const { atMs, event } of events) {
        if (event.type === 'access.answered' && event.answer === 'yes') answered.set(event.globs[0]!, atMs);
        if (event.type === 'attempt.output') printed += event.text;
      }
    },
  });
  const { state } = await run.finished;
  if (state !== 'done') throw new Error(`run ${run.id} in ${repo} is ${state}: ${printed}`);
  return PARTS.map((part) => {
    const match = new RegExp(`^${part} (\\d+) ([\\d.]+)$`, 'm').exec(printed);
    const fromMs = answered.get(`${part}/**`);
    if (fromMs === undefined || match === null || Number(match[1]) === 0)
      throw new Error(`${part} was not refused and then granted: ${printed}`);
    return Number(match[2]) - fromMs;
  });
}
