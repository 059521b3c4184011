/**
 * How long the shortest commands take, as whole commands and with the same Node: `bosun --version`, and `bosun
 * status` on a journal of 100,000 events, both against `node -e 0`.
 */
import path from 'node:path';
import { workflowOf } from './bosun.ts';
import { spawnMs } from './command.ts';
import { writeJournal } from './journal.ts';
import { installedBosun } from './installed.ts';
import { atMost, interleave, progress, roundsOr, type Bench, type Figure } from './measure.ts';
import { makeRepository } from './repository.ts';

const ROUNDS = 21;
const VERSION_RATIO_MAX = 1.5;
const STATUS_RATIO_MAX = 2;
const TASKS = 10_000;
const LINES = 7;
const EVENTS_MIN = 100_000;

const bosun = installedBosun();
/** The Node that bin/bosun takes in a checkout. */
const node = path.join(import.meta.dirname, '..', 'node_modules', '.bin', 'node');

export const bench: Bench = {
  name: 'start',
  about: 'bosun --version and bosun status, against node -e 0',
  async *figures(): AsyncIterable<Figure> {
    const repo = await makeRepository(1);
    const events = await writeJournal(repo, workflowOf('apart', TASKS, { workspace: 'none' }), LINES);
    if (events < EVENTS_MIN) throw new Error(`the journal has only ${events} events`);
    progress(`the journal has ${events} events of ${TASKS} tasks`);
    await spawnMs([bosun, '--version'], { cwd: repo }); // compiled code is cached from the first start on
    await spawnMs([bosun, 'status'], { cwd: repo });
    const taken = await interleave('whole commands', roundsOr(ROUNDS), {
      node: () => spawnMs([node, '-e', '0'], { cwd: repo }),
      version: () => spawnMs([bosun, '--version'], { cwd: repo }),
      status: () => spawnMs([bosun, 'status'], { cwd: repo }),
    });
    yield atMost(VERSION_RATIO_MAX, { name: 'bosun --version', value: taken.version, baseline: taken.node });
    const name = `bosun status at ${EVENTS_MIN} events`;
    yield atMost(STATUS_RATIO_MAX, { name, value: taken.status, baseline: taken.node });
  },
};
