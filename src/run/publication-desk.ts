/**
 * Where attempts of a run publish: checks that it was announced and is new, has the files taken, and makes a fact of
 * it. Whoever publishes is answered once that is in the journal. It decides nothing: who may start now is decided.
 */
import type { AttemptCrew, TakeFiles } from '../attempt/attempt.ts';
import { BosunError } from '../contract/errors.ts';
import type { EventOf, Fact } from '../contract/event.ts';
import type { PublishAnswer } from '../contract/publication.ts';
import type { Json } from '../contract/workflow.ts';
import { API_NEED } from '../contract/workflow-words.ts';
import { nodeOf, type Interface, type Node, type State } from '../schedule/state.ts';
import { tellPublication } from '../schedule/workflow/publications.ts';
import type { EngineGit } from '../system/git/engine-git.ts';
import type { Loop } from './loop.ts';

/** Of one task, in all its attempts: each is a commit. */
const PUBLICATIONS_MAX = 100;
/** Of one attempt, also of what is there already: each call takes its files. */
const CALLS_MAX = 1000;
/** As JSON. What is larger belongs into a file, which is published with it. */
const VALUE_BYTES_MAX = 64 * 1024;

type Wanted = Parameters<AttemptCrew['publish']>[0];

export class PublicationDesk {
  readonly #loop: Pick<Loop, 'state' | 'submit' | 'isOver'>;
  readonly #git: Pick<EngineGit, 'text'>;
  readonly #waiting = new Map<Fact, PromiseWithResolvers<void>>();
  /** By publisher: versions are counted, and each commit of its files knows the one before. */
  readonly #last = new Map<Node, Promise<unknown>>();
  readonly #calls = new Map<string, number>();

  constructor(loop: Pick<Loop, 'state' | 'submit' | 'isOver'>, git: Pick<EngineGit, 'text'>) {
    this.#loop = loop;
    this.#git = git;
  }

  toolsFor(task: string, attempt: number): Pick<AttemptCrew, 'publish'> {
    return { publish: (wanted, files) => this.#publish(task, attempt, wanted, files) };
  }

  async #publish(task: string, attempt: number, wanted: Wanted, files: TakeFiles): Promise<PublishAnswer> {
    const node = nodeOf(this.#loop.state, task);
    const published = announced(node, wanted.name);
    const calls = (this.#calls.get(`${task}@${attempt}`) ?? 0) + 1;
    if (calls > CALLS_MAX)
      throw new BosunError(
        'busy',
        `you have published ${CALLS_MAX} times: that is the limit; continue without`,
      );
    this.#calls.set(`${task}@${attempt}`, calls);
    const bytes = wanted.value === undefined ? 0 : Buffer.byteLength(JSON.stringify(wanted.value));
    if (bytes > VALUE_BYTES_MAX)
      throw new BosunError(
        'usage',
        `the value has ${bytes} bytes, and ${VALUE_BYTES_MAX} is the most; write it to a file, which is published too, and say where it is`,
      );
    const { publisher } = published;
    const turn = (this.#last.get(publisher) ?? Promise.resolve()).then(() =>
      this.#record(node, attempt, published, wanted.value, files),
    );
    this.#last.set(
      publisher,
      turn.catch(() => {}),
    );
    return turn;
  }

  async #record(
    node: Node,
    attempt: number,
    published: Interface,
    value: Json | undefined,
    files: TakeFiles,
  ): Promise<PublishAnswer> {
    const { name, versions, waiters } = published;
    if (node.publications >= PUBLICATIONS_MAX)
      throw new BosunError('usage', `${node.id} has published ${PUBLICATIONS_MAX} times: that is the limit`);
    const taken = await files(node.publications + 1);
    if (this.#loop.isOver) throw new BosunError('wrong-state', 'the run is over');
    const fact: EventOf<'publication.made'> = {
      type: 'publication.made',
      task: node.id,
      attempt,
      name,
      version: versions.length + 1,
      ...(value !== undefined && { value }),
      ...(taken && { commit: taken.commit }),
      changedCount: taken?.changedCount ?? 0,
    };
    const answer = {
      name,
      changedCount: fact.changedCount,
      outsideCount: taken?.outsideCount ?? 0,
      waiters: waiters.map(({ id }) => id),
    };
    // Who is tried again says what it said before: that is no mistake, and nothing that others must hear of.
    if (await this.#isSame(published, fact)) return { ...answer, version: versions.length, isNew: false };
    const heard = Promise.withResolvers<void>();
    this.#waiting.set(fact, heard);
    this.#loop.submit(fact, ...(fact.version > 1 ? [newsOf(this.#loop.state, node, fact)] : []));
    await heard.promise;
    if (versions.at(-1)?.version !== fact.version)
      throw new BosunError('wrong-state', `${name} was not published: the attempt has ended`);
    return { ...answer, version: fact.version, isNew: true };
  }

  async #isSame({ versions }: Interface, fact: EventOf<'publication.made'>): Promise<boolean> {
    const last = versions.at(-1);
    if (last?.task !== fact.task) return false;
    const value = last.valueRef ? this.#loop.state.read(last.valueRef) : last.value;
    if (JSON.stringify(value) !== JSON.stringify(fact.value)) return false;
    if (last.commit === fact.commit) return true;
    if (last.commit === undefined || fact.commit === undefined) return false;
    const trees = await this.#git.text(['rev-parse', `${last.commit}^{tree}`, `${fact.commit}^{tree}`]);
    return new Set(trees.split('\n')).size === 1;
  }

  /** It is in the journal. */
  heard(fact: Fact): void {
    this.#waiting.get(fact)?.resolve();
    this.#waiting.delete(fact);
  }

  /** Nothing will be recorded any more. */
  close(): void {
    for (const { reject } of this.#waiting.values())
      reject(new BosunError('wrong-state', 'the engine stopped before it was published'));
    this.#waiting.clear();
  }
}

function announced({ id, task, interfaces }: Node, name: string): Interface {
  const published = task.publishes?.includes(name) ? interfaces.get(name) : undefined;
  if (published) return published;
  const names = task.publishes?.length ? `it announces ${task.publishes.join(', ')}` : 'it announces nothing';
  throw new BosunError(
    'usage',
    `${id} cannot publish "${name.slice(0, 100)}": ${names}; what a task publishes is named in "publishes" of the workflow`,
  );
}

/** For those who work on an earlier version: in the journal with the publication, or not at all. */
function newsOf(state: State, node: Node, made: EventOf<'publication.made'>): EventOf<'message.sent'> {
  const { task, attempt, name, version } = made;
  return {
    type: 'message.sent',
    task,
    attempt,
    id: `${task}+p${node.publications + 1}`,
    to: `${API_NEED}${name}`,
    body: `${tellPublication(state, made)}\nTo apply what changed to your files: take ${API_NEED}${name}`,
    publication: { name, version },
  };
}
