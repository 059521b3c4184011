/**
 * Where attempts of a run publish: checks that it was announced and is new, has the files taken, and makes a fact of
 * it. Whoever publishes is answered once that is in the journal. It decides nothing: who may start now is decided.
 */
import type { AttemptCrew, TakeFiles } from '../attempt/attempt.ts';
import { parseJson } from '../base/parse-json.ts';
import { BosunError } from '../contract/errors.ts';
import type { EventOf, Fact } from '../contract/event.ts';
import type { PublishAnswer } from '../contract/publication.ts';
import type { Json } from '../contract/workflow.ts';
import { nodeOf, type Interface, type Node } from '../schedule/state.ts';
import type { EngineGit } from '../system/git/engine-git.ts';
import type { Loop } from './loop.ts';

/** Of one task, in all its attempts: each is a commit. */
const PUBLICATIONS_MAX = 100;

type Wanted = Parameters<AttemptCrew['publish']>[0];

export class PublicationDesk {
  readonly #loop: Pick<Loop, 'state' | 'submit' | 'isOver'>;
  readonly #git: Pick<EngineGit, 'text'>;
  readonly #waiting = new Map<Fact, PromiseWithResolvers<void>>();
  /** By publisher: versions are counted, and each commit of its files knows the one before. */
  readonly #last = new Map<Node, Promise<unknown>>();

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
    const { publisher } = published;
    const turn = (this.#last.get(publisher) ?? Promise.resolve()).then(() =>
      this.#record(node, attempt, published, valueOf(wanted.value), files),
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
      throw new BosunError(
        'usage',
        `${node.id} has published ${PUBLICATIONS_MAX} times, which is all it may`,
      );
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
    if (await this.#isSame(published, fact))
      throw new BosunError(
        'usage',
        `version ${versions.length} of ${name} has this value and these files already; change something first`,
      );
    const heard = Promise.withResolvers<void>();
    this.#waiting.set(fact, heard);
    this.#loop.submit(fact);
    await heard.promise;
    if (versions.at(-1)?.version !== fact.version)
      throw new BosunError('wrong-state', `${name} was not published: the attempt has ended`);
    const { version, changedCount } = fact;
    const outsideCount = taken?.outsideCount ?? 0;
    return { name, version, changedCount, outsideCount, waiters: waiters.map(({ id }) => id) };
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

/** A text that is JSON is kept as such: so others can look into it. */
function valueOf(text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  return parseJson(text) ?? text;
}
