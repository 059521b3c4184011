/** Requests that make work: each run is checked and in the journal before it is acknowledged, and driven by a process of its own. */
import path from 'node:path';
import { isModule } from '../../definition/load.ts';
import { BosunError } from '../../contract/errors.ts';
import type { Role } from '../../contract/role.ts';
import { perform } from '../../operations/perform.ts';
import { showAsked } from '../../operations/trust.ts';
import { findRun, openJournal } from '../../run/journal.ts';
import { RunQueues } from '../../run/run-queue.ts';
import { jsonReply, type Reply } from './call.ts';
import type { Access } from './access.ts';
import type { HttpContext } from './door.ts';
import { HttpProblem } from './problem.ts';
import { spellControls } from '../../report/text/plain.ts';
import type { RequestOnce } from './request-once.ts';
import type { HttpRoute } from './routes.ts';
import { RunStarter } from './run-starter.ts';

type Input = Record<string, unknown>;

const MORE_SHOWN_MAX = 10;

export class Starts implements AsyncDisposable {
  readonly #queues = new RunQueues();
  readonly #access: Access;
  readonly #starter: RunStarter;

  constructor(access: Access, onTrouble: (text: string) => void) {
    this.#access = access;
    this.#starter = new RunStarter(onTrouble);
  }

  /** A request with a key is done once, however often it is sent. */
  async answer(
    route: HttpRoute,
    given: Input,
    around: HttpContext,
    { once, role }: { once: RequestOnce | undefined; role: Role },
  ): Promise<Reply> {
    const { starts, status = 202 } = route;
    const input: Input = { ...given, ...(once && typeof starts === 'string' && once) };
    if (starts === 'file') return jsonReply(await this.#startFile(input, around), { status });
    if (starts === 'task') return jsonReply(await this.#startTask(input, around, role), { status });
    if (starts === 'execution') return jsonReply(await this.#startExecution(input, around, role), { status });
    const words = wordsOf(starts!, await known(input, around.cwd));
    const said = route.more?.flatMap((name) => (input[name] === undefined ? [] : [[name, input[name]]]));
    const more = said && Object.fromEntries(said);
    return jsonReply(await this.#starter.continue(words, { ...around, more }), { status });
  }

  changed(directory: string): Promise<void> {
    return this.#starter.changed(directory);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#starter[Symbol.dispose]();
    await this.#queues[Symbol.asyncDispose]();
  }

  async #startFile({ file, trust, agreed, ...input }: Input, around: HttpContext): Promise<unknown> {
    const named = file === undefined ? {} : { file: fileWithin(file as string) };
    const given = trust === undefined ? {} : { trust: trust === true };
    const {
      workflow,
      file: source,
      warnings,
      fresh,
    } = await perform('check', { ...named, ...given }, around);
    if (trust === true && agreed !== undefined) requireAgreed(source, fresh, agreed as string[]);
    const queued = await perform(
      'queue',
      { ...input, ...given, workflow, source },
      { ...around, queues: this.#queues },
    );
    this.#starter.wake(around.cwd);
    return { ...queued, notes: [...warnings, ...queued.notes] };
  }

  async #startExecution(input: Input, around: HttpContext, role: Role): Promise<unknown> {
    const trust = role === 'admin'; // whoever may start one may have written its template and its item
    const execution = await perform('execute', input as never, { ...around, trust, queues: this.#queues });
    const { directory } = this.#access.repository(execution.repositoryId);
    this.#starter.wake(directory);
    return execution;
  }

  async #startTask(input: Input, around: HttpContext, role: Role): Promise<unknown> {
    const trust = role === 'admin';
    const queued = await perform('queueExec', input, { ...around, trust, queues: this.#queues });
    this.#starter.wake(around.cwd);
    return queued;
  }
}

/** The file may have changed since somebody was shown what it asks for. */
function requireAgreed(source: string, fresh: readonly string[], agreed: readonly string[]): void {
  const more = fresh.filter((each) => !agreed.includes(each));
  if (more.length === 0) return;
  const shown = showAsked(more.slice(0, MORE_SHOWN_MAX)).join('; ');
  throw new BosunError(
    'not-trusted',
    `nothing was started: ${spellControls(source)} asks for more than you were shown: ${shown}`,
  );
}

/** Over HTTP only files of the repository are meant, and none of them is run as code of this process. */
export function fileWithin(file: string): string {
  const refuse = (detail: string): never => {
    throw new HttpProblem(400, 'usage', detail, { fields: [{ pointer: '/file', detail }] });
  };
  if (path.isAbsolute(file) || file.includes('\0') || path.normalize(file).split('/')[0] === '..')
    return refuse('file must be a path within the repository');
  if (isModule(file))
    return refuse('a workflow that is code is not loaded by a server: name a YAML or JSON file');
  // What is wrong with a file is told with its lines.
  if (!['.yaml', '.yml', '.json'].includes(path.extname(file)))
    return refuse('file must be a workflow, in YAML or JSON');
  return file;
}

/** A run and a task by their own ids: what stood in the address becomes no word of a command. */
async function known(input: Input, directory: string): Promise<Input> {
  await using journal = await openJournal(directory);
  const { id: run } = await findRun(journal, input.run as string);
  if (input.task === undefined) return { ...input, run };
  const tasks = await journal.store.tasks(run);
  const found = tasks.find(({ id }) => id === input.task) ?? tasks.find(({ label }) => label === input.task);
  if (!found) throw new BosunError('not-found', `run ${run} has no task ${input.task as string}`);
  return { ...input, run, task: found.id };
}

/** `{field}` stands for its value; a word with a field that is not given is left out. */
function wordsOf([command, ...words]: readonly [string, ...string[]], input: Input): [string, ...string[]] {
  const rest = words.flatMap((word) => {
    const [place, name] = /\{(\w+)\}$/.exec(word) ?? [];
    if (place === undefined || name === undefined) return [word];
    const value = input[name] as string | undefined;
    return value === undefined ? [] : [word.slice(0, -place.length) + value];
  });
  return [command, ...rest];
}
