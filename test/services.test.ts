/** Services in the state of a run: which are there, who may reach them, who waits for them, and what a scope says of them. */
import { describe, expect, it } from 'vitest';
import type { Decision, Fact } from '../src/contract/event.ts';
import { serviceOf } from '../src/contract/services.ts';
import type { WorkflowSource } from '../src/contract/workflow.ts';
import { hostProblem } from '../src/definition/check/hosts.ts';
import { parseWorkflow } from '../src/definition/load.ts';
import { reachOf } from '../src/definition/reach.ts';
import { nodeOf } from '../src/schedule/state.ts';
import { taskView } from '../src/schedule/views/view.ts';
import { servicesFor } from '../src/schedule/workflow/services.ts';
import { startDecided } from './fixtures/decided-run.ts';

const run = { run: 'true' };

function serves(task: string, name = 'web', attempt = 1): Fact {
  return { type: 'service.announced', task, attempt, name, port: 3000 };
}

function ends(task: string): Fact {
  return { type: 'attempt.finished', task, attempt: 1, outcome: { kind: 'done' }, durationMs: 1 };
}

function waits(task: string, name = 'web'): Fact {
  return { type: 'wait.began', task, attempt: 1, id: `${task}+w1`, for: { kind: 'service', name }, timeoutMs: 60_000 }; // prettier-ignore
}

function toldIn(decisions: Decision[]): string[] {
  return decisions.flatMap((one) =>
    one.type === 'wait.ended' ? [`${one.why}: ${one.text}`] : one.type === 'wait.circled' ? [one.text] : [],
  );
}

describe('a service', () => {
  it('is there from its announcement to its end, or to that of its attempt, and no other attempt can say so', () => {
    const { state, take } = startDecided({ tasks: { a: run, b: run } });
    take(serves('a', 'web', 2));
    expect(state.services.size).toBe(0);
    take(serves('a'));
    take(serves('a', 'api'));
    take(serves('b'));
    expect([...state.services.values()].map(({ name, task }) => `${task} ${name}`)).toEqual(['a web', 'a api']); // prettier-ignore
    expect(taskView(nodeOf(state, 'a')).services).toEqual([
      { name: 'web', port: 3000 },
      { name: 'api', port: 3000 },
    ]);
    take({ type: 'service.gone', task: 'b', attempt: 1, name: 'web', why: 'x' });
    expect(state.services.size).toBe(2);
    take({ type: 'service.gone', task: 'a', attempt: 1, name: 'web', why: 'x' });
    take(serves('b'));
    expect(state.services.get('web')?.task).toBe('b');
    take(ends('a'));
    expect([...state.services.keys()]).toEqual(['web']);
    take({ type: 'attempt.finished', task: 'b', attempt: 1, outcome: { kind: 'lost' }, durationMs: 1 });
    expect(state.services.size).toBe(0);
    expect(taskView(nodeOf(state, 'b')).services).toBeUndefined();
  });

  const needs = (...names: string[]): object => ({ ...run, needs: names });
  it.each<[string, WorkflowSource['tasks'], boolean]>([
    ['a task beside it', { reader: run }, false],
    ['one that names it', { reader: { ...run, scope: { network: ['web.bosun'] } } }, true],
    ['one that names all', { reader: { ...run, scope: { network: ['*.bosun'] } } }, true],
    [
      'one that names another',
      { reader: { ...run, scope: { network: ['api.bosun', 'web.example'] } } },
      false,
    ],
    ['one that needs what it publishes', { reader: needs('api:spec') }, true],
    ['one whose needs do', { between: needs('api:spec'), reader: needs('between') }, true],
    ['one whose publisher does', { between: { ...needs('api:spec'), publishes: ['x'] }, reader: needs('api:x') }, true], // prettier-ignore
    ['one that needs something else', { between: run, reader: needs('between') }, false],
    ['an item of one that needs it', { group: { ...needs('api:spec'), 'for-each': ['x'] } }, true],
  ])('may be reached by %s: %#', (_, tasks, isReached) => {
    const { state, take } = startDecided({ tasks: { server: { ...run, publishes: ['spec'] }, ...tasks } });
    take(serves('server'));
    take({ type: 'publication.made', task: 'server', attempt: 1, name: 'spec', version: 1, changedCount: 0 });
    const reader = state.nodes.get('reader') ?? nodeOf(state, 'group.1');
    expect(servicesFor(state, reader).map(({ name }) => name)).toEqual(isReached ? ['web'] : []);
    expect(servicesFor(state, nodeOf(state, 'server'))).toEqual([]);
  });
});

describe('a wait for a service', () => {
  const named = { ...run, scope: { network: ['web.bosun'] } };

  it('is over when it is there, and at once where it may not be reached', () => {
    const { take } = startDecided({ tasks: { a: named, b: run, c: run } });
    expect(toldIn(take(waits('a')))).toEqual([]);
    expect(toldIn(take(serves('b', 'other')))).toEqual([]);
    expect(toldIn(take(serves('b')))).toEqual(['met: b serves web at http://web.bosun']);
    expect(toldIn(take(waits('c')))).toEqual([
      'ended: you may not reach web: it is a service of b, which your task does not need; to allow it, add "web.bosun" to scope.network',
    ]);
  });

  it('ends where nobody is left who could serve it', () => {
    const { take } = startDecided({ tasks: { a: named, b: run } });
    take(waits('a'));
    expect(toldIn(take(ends('b')))).toEqual([
      'nobody is left who could serve it: a waits for the service web',
    ]);
  });
});

describe('a scope', () => {
  it.each([
    ['web.bosun', undefined],
    ['*.bosun', undefined],
    ['WEB.bosun', undefined],
    ['web.bosun:3000', /has a port, and a service is one; write web.bosun/],
    ['*.bosun:80', /is not a service of a run; write one such as web.bosun, or \*\.bosun/],
    ['bosun', /is not a service of a run/],
    ['a.web.bosun', /is not a service of a run/],
    ['*.web.bosun', /is not a service of a run/],
    ['web_1.bosun', /is not a service of a run/],
  ])('says of %s what is wrong with it', (entry, problem) => {
    if (problem === undefined) expect(hostProblem(entry)).toBeUndefined();
    else expect(hostProblem(entry)).toMatch(problem);
  });

  it('that names services asks for nothing beyond the repository', () => {
    const text = `name: w
tasks:
  a: { run: 'true', scope: { network: [web.bosun, '*.bosun', bosun.example] } }
`;
    expect(reachOf(parseWorkflow(text, 'bosun.yaml').workflow, '/')).toEqual(['reach bosun.example']);
  });

  it('and a proxy take the same names for services', () => {
    const names = [
      'web.bosun',
      'bosun',
      'a.web.bosun',
      '..bosun',
      'x\n.bosun',
      'web.bosun.example',
      'xbosun',
    ];
    expect(names.map(serviceOf)).toEqual(['web', '', '', '', '', undefined, undefined]);
  });
});
