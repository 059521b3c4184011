/**
 * What interfaces stand, and what work rests on. A publication stands unless the task that made it has ended without
 * success: also one of an attempt that failed, as long as its task is tried again. Pure.
 */
import { cutText } from '../../base/cut-text.ts';
import type { BuiltOn } from '../../contract/event.ts';
import { isReader } from './addressees.ts';
import { hasEnded, type Interface, type Node, type Origin, type Publication, type State } from '../state.ts';

/** Of a value, in a message and where a wait ends: the whole of it is with the interface. */
const VALUE_SHOWN_CHARS_MAX = 4000;

/** The newest version that stands. */
export function standing(state: State, needed: Interface): Publication | undefined {
  return standingFrom(state, needed, 1);
}

/** The same, where it is this version or a later one. */
export function standingFrom(
  state: State,
  { versions }: Interface,
  version: number,
): Publication | undefined {
  return versions.findLast((one) => one.version >= version && !isLost(state, one.task));
}

/** Where the task, or one around it, can know the interface from. */
export function findInterface(node: Node, name: string): Interface | undefined {
  return node.interfaces.get(name) ?? (node.parent && findInterface(node.parent, name));
}

/** The version that the task works on; 0 where it started without it, or from all that the publisher did. */
export function versionUnder({ restsOn }: Node, { name, versions }: Interface): number {
  const found = restsOn.find((one) => one.name === name && versions.some(({ task }) => task === one.task));
  return found?.version ?? 0;
}

/** Those at work on an earlier version than the newest; not those whose work only waits to be merged. */
export function onEarlierVersion(state: State, published: Interface): Node[] {
  const newest = published.versions.at(-1)?.version ?? 0;
  return [...state.nodes.values()].filter((node) => {
    const version = hasEnded(node) || node.state === 'merging' ? 0 : versionUnder(node, published);
    return version > 0 && version < newest && isReader(node);
  });
}

/** What whoever waited for it hears. */
export function tellPublication(state: State, publication: Publication): string {
  const { name, version, task, changedCount } = publication;
  const files =
    changedCount === 0 ? '' : ` with ${changedCount} changed ${changedCount === 1 ? 'file' : 'files'}`;
  const value = valueText(state, publication);
  return `${state.nodes.get(task)!.label} published ${name} version ${version}${files}${value === '' ? '' : `:\n${value}`}`;
}

function valueText(state: State, { value, valueRef }: Publication): string {
  const given = valueRef ? state.read(valueRef) : value;
  if (given === undefined) return '';
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  return cutText(text, VALUE_SHOWN_CHARS_MAX);
}

/** Nothing more has to be waited for: it is there, or nobody is left who could publish it. */
export function isSettled(state: State, needed: Interface): boolean {
  return standing(state, needed) !== undefined || hasEnded(needed.publisher);
}

/** What the task starts from, and tasks around it: the newest version of each that stands. */
export function standingFor(state: State, node: Node): Publication[] {
  return apisOf(node).flatMap((needed) => standing(state, needed) ?? []);
}

/** The first interface that the task, or one around it, needs and cannot have. */
export function missingInterface(state: State, node: Node): Interface | undefined {
  return apisOf(node).find((needed) => standing(state, needed) === undefined);
}

/** Names who did not deliver. */
export function tellMissing(state: State, { name, publisher, versions }: Interface): string {
  const last = versions.at(-1);
  if (last) return tellLost(state, last);
  return `it needs api:${name}, which ${publisher.id} ended without publishing`;
}

/** Publishers that work of the node rests on, and that are still to be waited for. */
export function openPublishers(state: State, { restsOn }: Node): string[] {
  const open = restsOn.filter(({ task }) => !hasEnded(state.nodes.get(task)!));
  return [...new Set(open.map(({ task }) => task))];
}

/** Why work on these can never be merged: their files will not be. */
export function lostBasis(state: State, restsOn: readonly BuiltOn[]): string | undefined {
  const lost = restsOn.find(({ task }) => isLost(state, task));
  return lost && tellLost(state, lost);
}

function tellLost(state: State, { name, version, task }: BuiltOn): string {
  const how = { failed: 'failed', cancelled: 'was cancelled', skipped: 'was skipped' };
  const { state: ended } = state.nodes.get(task)!;
  const why = ended in how ? how[ended as keyof typeof how] : 'is tried again';
  return `it needs api:${name}, and ${task}, which published version ${version}, ${why}`;
}

/** What a node starts from: the results of its needs and what was published to it, else what the task around it does. */
export function originOf(state: State, node: Node): Origin {
  // A child starts from what its parent started from, whatever has happened since.
  if (node.origin) return { ...withDone(state, node.origin), commits: node.origin.commits };
  const origin = join([
    ...node.needs.map(({ results, restsOn }) => ({ commits: results, publications: restsOn })),
    ...node.apis.map((needed) => publishedOrigin(state, needed)),
  ]);
  if (origin.commits.length > 0) return withDone(state, origin);
  const around = aroundOf(state, node.parent);
  return withDone(state, { ...around, publications: [...origin.publications, ...around.publications] });
}

/** Tasks that an expand task wrote go on from what that task itself did. */
function aroundOf(state: State, parent: Node | undefined): Origin {
  if (!parent) return { commits: [state.base], publications: [] };
  const { results, restsOn } = parent;
  return results.length > 0 ? { commits: results, publications: restsOn } : originOf(state, parent);
}

/** The same on top of all that is merged. What is published and not merged comes beside it. */
export function originOnTop(state: State, node: Node): Origin {
  const published = apisOf(node).map((needed) => publishedOrigin(state, needed));
  const { commits, publications } = join(published.filter((origin) => origin.publications.length > 0));
  return { commits: [state.shadow, ...commits], publications };
}

/** Once its publisher is done, that one's result has all of it. */
function publishedOrigin(state: State, needed: Interface): Origin {
  const publication = standing(state, needed);
  if (!publication) return { commits: [], publications: [] };
  const { name, version, task, commit } = publication;
  const publisher = state.nodes.get(task)!;
  if (publisher.state === 'done') return { commits: publisher.results, publications: [] };
  return { commits: commit === undefined ? [] : [commit], publications: [{ name, version, task }] };
}

/**
 * Publishers that are done by now: their results are part of it, in place of what they published. An attempt that
 * published may have failed, and what its task did in the end is something else.
 */
function withDone(state: State, { commits, publications }: Origin): Origin {
  const isDone = ({ task }: BuiltOn): boolean => state.nodes.get(task)!.state === 'done';
  const results = publications.filter(isDone).flatMap(({ task }) => state.nodes.get(task)!.results);
  return {
    commits: [...new Set([...commits, ...results])],
    publications: unique(publications.filter((one) => !isDone(one))),
  };
}

function join(origins: readonly Origin[]): Origin {
  return {
    commits: [...new Set(origins.flatMap(({ commits }) => commits))],
    publications: unique(origins.flatMap(({ publications }) => publications)),
  };
}

export function unique(publications: readonly BuiltOn[]): BuiltOn[] {
  return [...new Map(publications.map((one) => [`${one.task} ${one.name} ${one.version}`, one])).values()];
}

/** What a task needs, and what those around it do: items, turns, rounds and tasks within start from the same. */
function apisOf(node: Node): Interface[] {
  return node.parent ? [...node.apis, ...apisOf(node.parent)] : node.apis;
}

function isLost(state: State, task: string): boolean {
  const publisher = state.nodes.get(task)!;
  return hasEnded(publisher) && publisher.state !== 'done';
}
