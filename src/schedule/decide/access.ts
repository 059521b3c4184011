/**
 * Who may have more: the answer to a request for access, or who is asked for it. Pure, as all of decide. It follows
 * the scope of the agent that asks: first what needs no policy, then `grant`.
 */
import { parseGlob, type Glob } from '../../base/glob-syntax.ts';
import { covers, narrow, overlapOf } from '../../base/globs.ts';
import { namesSettings } from '../../base/settings-path.ts';
import type { AccessWord } from '../../contract/access.ts';
import type { Decision } from '../../contract/event.ts';
import { agentScope, globsOfPeople } from '../workflow/agent-of.ts';
import { patchOf } from '../workflow/access.ts';
import { cutLines } from '../workflow/said.ts';
import { ownersOf } from '../workflow/owners.ts';
import { hasEnded, type AccessRequest, type Node, type State } from '../state.ts';

const OWNER_MS = 120_000;
const PERSON_MS = 600_000;
/** What a person is shown of a diff. */
const DIFF_CHARS_MAX = 4000;
/** Of those that own what is asked for. */
const OWNERS_MAX = 20;

export function decideAccess(state: State, request: AccessRequest): Decision {
  const node = state.nodes.get(request.task)!;
  if (state.cancelling) return no(request, 'ended', 'the run is being cancelled');
  if (!isRunning(node) || request.attempt !== node.attempt)
    return no(request, 'ended', 'the attempt has ended');
  if (request.answer) return afterAnswer(request, request.answer);

  const scope = agentScope(node, node.started!.purpose);
  const { write, shared = [], hide = [], grant } = scope;
  const globs = request.globs.map(parseGlob);
  const hidden = overlapping(hide, globs);
  if (hidden !== undefined) return no(request, 'scope', `${hidden} is hidden`);
  const settings = globs.find((glob) => namesSettings(glob.text));
  if (settings) {
    const named = globsOfPeople(node, node.started!.purpose).filter(namesSettings).map(parseGlob);
    if (!named.some((each) => covers(each, settings)))
      return no(
        request,
        'scope',
        `${settings.text} is for bosun's own settings, which only the workflow can name`,
      );
  }
  if (write === undefined)
    return yes(request, 'scope', 'its scope names no files, so that it may change all');
  if (narrow([...write, ...shared, ...node.granted], globs).granted)
    return yes(request, 'scope', 'it may change that already');

  if (grant === 'never') return no(request, 'policy', 'its scope says grant: never');
  if (Array.isArray(grant)) {
    const { granted, beyond } = narrow(grant, globs);
    if (!granted) return no(request, 'policy', `"grant" of its scope does not name ${beyond}`);
    return { ...yes(request, 'policy', '"grant" of its scope names it'), globs: granted };
  }
  return grant === 'owner' ? decideByOwner(state, node, request, globs) : askPerson(state, request);
}

function decideByOwner(state: State, node: Node, request: AccessRequest, globs: readonly Glob[]): Decision {
  const owners = ownersOf(state, node, globs);
  const [maker] = [...request.owners].find(([, said]) => said === 'applied') ?? [];
  if (maker !== undefined)
    return answered(
      request,
      'applied',
      `owner ${maker}`,
      `${maker}, which owns it, has made the change, which comes with its result`,
    );
  const against = [...request.owners].find(([, said]) => said === 'no');
  if (against) return no(request, `owner ${against[0]}`, `${against[0]}, which owns it, says no`);
  if (owners.length === 0) return askPerson(state, request);
  const open = owners.filter((owner) => !hasEnded(owner));
  if (open.length === 0) return yes(request, 'owner', `its owner ${namesOf(owners)} has ended`);
  const silent = open.filter(({ id }) => request.owners.get(id) !== 'yes');
  if (silent.length === 0)
    return yes(request, `owner ${namesOf(open)}`, `${namesOf(open)}, which owns it, says yes`);
  if (request.isUnanswered || !silent.every(isRunning)) return askPerson(state, request);
  const { id, task, attempt, globs: wanted } = request;
  const asked = silent.map((owner) => owner.id);
  return { type: 'access.asked', task, attempt, id, globs: wanted, owners: asked, timeoutMs: OWNER_MS };
}

/** Nobody may be there: then it is a no, and the agent goes on without. */
function askPerson(state: State, request: AccessRequest): Decision {
  const { id, task, globs } = request;
  // What is cut off at the end of a line must not be the widest of them.
  const names = globs.toSorted((a, b) => a.length - b.length).join(', ');
  const node = state.nodes.get(task)!;
  const owners = ownersOf(state, node, globs.map(parseGlob)).slice(0, OWNERS_MAX);
  const text = `May it change ${globs.length > 1 ? `${globs.length} paths: ` : ''}${names}?`;
  const patch = patchOf(state, request);
  const diff = patch === undefined ? {} : { diff: cutLines(patch, DIFF_CHARS_MAX) };
  return {
    type: 'question.asked',
    id,
    task,
    text,
    default: 'no',
    timeoutMs: PERSON_MS,
    globs,
    ...(owners.length > 0 && { owners: owners.map((owner) => owner.id) }),
    ...diff,
  };
}

function afterAnswer(request: AccessRequest, said: NonNullable<AccessRequest['answer']>): Decision {
  const { by, note } = said;
  const answer = said.answer === 'yes' ? 'yes' : 'no';
  const why = by === 'time-out' ? 'nobody answered in time' : (note ?? `${by} said ${answer}`);
  return answered(request, answer, by, why);
}

function yes(request: AccessRequest, by: string, why: string): Decision & { type: 'access.answered' } {
  return answered(request, 'yes', by, why);
}

function no(request: AccessRequest, by: string, why: string): Decision {
  return answered(request, 'no', by, why);
}

function answered(
  { id, task, attempt, globs }: AccessRequest,
  answer: AccessWord,
  by: string,
  why: string,
): Decision & { type: 'access.answered' } {
  return { type: 'access.answered', task, attempt, id, globs, answer, by, why };
}

function isRunning(node: Node): boolean {
  return node.state === 'running' && !node.ended && !node.stopping;
}

/** The one of `globs` that has a path in common with `texts`. */
function overlapping(texts: readonly string[], globs: readonly Glob[]): string | undefined {
  const parsed = texts.map(parseGlob);
  return globs.find((glob) => parsed.some((other) => overlapOf(other, glob) !== undefined))?.text;
}

function namesOf(nodes: readonly Node[]): string {
  return nodes.map(({ id }) => id).join(', ');
}
