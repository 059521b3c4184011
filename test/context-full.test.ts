/** A conversation that grew too long for its model: how that is known, and how its task goes on in a new one. */
import { describe, expect, it } from 'vitest';
import { Conversation } from '../src/attempt/conversation.ts';
import type { Decision, EventOf, Fact } from '../src/contract/event.ts';
import type { WorkflowSource } from '../src/contract/workflow.ts';
import { tooLong } from '../src/model-server/too-long.ts';
import { agentError } from '../src/runtime/agent/error.ts';
import { kindOfAnswer } from '../src/gateway/complaint.ts';
import { slim, whole, type StoredValue } from '../src/store/values.ts';
import { startDecided } from './fixtures/decided-run.ts';

const STORY = `Files changed: a.ts\nTools called: shell (9)\n\n${'- said: more\n'.repeat(2000)}- said: the last words`;

function full(attempt: number, story = STORY): Fact {
  return {
    type: 'attempt.finished',
    task: 'work',
    attempt,
    outcome: { kind: 'failed', reason: 'agent', message: 'too long' },
    error: { kind: 'context-full', message: 'too long' },
    durationMs: 1,
    collected: { commit: `c${attempt}`, changed: [], changedCount: 0, refused: [], artifacts: [] },
    story,
  };
}

function used(attempt: number): Fact {
  const tokens = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
  return { type: 'model.used', task: 'work', attempt, provider: 'p', model: 'm', tokens, usd: 1 };
}

function begin(more: Partial<WorkflowSource['tasks'][string]> = {}): ReturnType<typeof startDecided> {
  const run = startDecided({
    agents: { brief: { runtime: 'cli', command: 'true' } },
    tasks: { work: { agent: { runtime: 'codex' }, prompt: 'Work.', ...more } },
  });
  run.take({ type: 'attempt.agent', task: 'work', attempt: 1, event: { kind: 'started', session: 's1' } });
  run.take(used(1));
  return run;
}

function startIn(decisions: Decision[], task = 'work'): EventOf<'attempt.started'> {
  return decisions.find((one) => one.type === 'attempt.started' && one.task === task) as never;
}

describe('a conversation that grew too long', () => {
  it('is gone on with in the same files, in a new conversation that begins with what came before', () => {
    const [again, start] = begin().take(full(1));
    expect(again).toMatchObject({ type: 'task.again', why: 'context', continues: 1 });
    expect(start).toMatchObject({ type: 'attempt.started', attempt: 2, prompt: 'Work.', continues: 1 });
    const { recap, session, files } = start as EventOf<'attempt.started'>;
    expect(session).toBeUndefined();
    expect(recap).toContain('Files changed: a.ts\nTools called: shell (9)\n');
    expect(recap).toMatch(/- said: the last words\n\(This is an outline of your conversation in attempt 1, /);
    expect(recap!.length).toBeLessThan(9000);
    expect(files).toEqual([{ name: 'value-1.txt', text: STORY }]);
  });

  it('is told as it was where that is short', () => {
    const { recap, files } = startIn(begin().take(full(1, 'Files changed: none\n\n- said: hello')));
    expect(recap).toMatch(/What happened so far:\n\nFiles changed: none\n\n- said: hello$/);
    expect(files).toBeUndefined();
  });

  it('is summed up by the agent that the task names, before it goes on', () => {
    const { take } = begin({ summarize: 'brief' });
    const asked = take(full(1));
    expect(asked.map(({ type }) => type)).toEqual([
      'task.again',
      'task.summarizing',
      'tasks.ready',
      'attempt.started',
    ]);
    expect(startIn(asked, 'work/summary-1').files).toEqual([{ name: 'value-1.txt', text: STORY }]);
    const next = take({
      type: 'attempt.finished', task: 'work/summary-1', attempt: 1, outcome: { kind: 'done' }, durationMs: 1,
      output: 'It made a.ts.',
    }); // prettier-ignore
    const { recap, continues } = startIn(next);
    expect(continues).toBe(1);
    expect(recap).toContain(
      'It made a.ts.\n(This is a summary by the agent brief of your conversation in attempt 1',
    );
  });

  it('is begun anew three times at most, and not where the very first request was refused', () => {
    const { take } = begin();
    for (const attempt of [1, 2, 3]) {
      expect(startIn(take(full(attempt))).attempt).toBe(attempt + 1);
      take(used(attempt + 1));
    }
    expect(take(full(4)).at(0)).toMatchObject({ type: 'task.finished', outcome: { kind: 'failed' } });

    const other = begin();
    other.take(full(1));
    expect(other.take(full(2)).at(0)).toMatchObject({ type: 'task.finished', outcome: { kind: 'failed' } });
  });

  it('counts for nothing against the attempts that the task may have', () => {
    const { take } = begin({ check: 'false', attempts: 2 });
    take(full(1));
    take(used(2));
    const failed = take({
      type: 'attempt.finished', task: 'work', attempt: 2, durationMs: 1, feedback: 'no',
      outcome: { kind: 'failed', reason: 'check', message: 'no' },
    }); // prettier-ignore
    expect(failed[0]).toMatchObject({ type: 'task.again', why: 'feedback' });
  });

  it('is told again to whoever takes over from a killed engine', () => {
    const { take } = begin();
    const { recap } = startIn(take(full(1)));
    const { collected } = full(2) as EventOf<'attempt.finished'>;
    const lost = take({
      type: 'attempt.finished',
      task: 'work',
      attempt: 2,
      outcome: { kind: 'lost' },
      durationMs: 1,
      collected: collected!,
    });
    expect(startIn(lost)).toMatchObject({ continues: 1, recap });
  });

  it('is kept beside the journal, and read back', () => {
    const kept = new Map<string, StoredValue>();
    const small = slim(full(1), (value) => kept.set(value.hash, value));
    expect(JSON.stringify(small).length).toBeLessThan(1000);
    expect(whole(small, ({ hash }) => JSON.parse(kept.get(hash)!.text))).toEqual(full(1));
  });
});

describe('what is kept of a conversation', () => {
  it('is what was said, done and changed, and what came before it', () => {
    const conversation = new Conversation('Once.');
    conversation.hear({ kind: 'text', text: 'I begin.' });
    conversation.hear({ kind: 'tool-call', id: '1', name: 'shell', input: 'ls' });
    conversation.hear({ kind: 'tool-result', id: '1', isError: true, text: 'no' });
    conversation.hear({ kind: 'file-changed', path: 'b.ts' });
    expect(conversation.story([{ path: 'a.ts' }])).toBe(
      'Files changed: a.ts, b.ts\nTools called: shell (1)\n\nBefore that:\nOnce.\n\n- said: I begin.\n- called shell: ls\n  it failed: no',
    );
  });

  it('is bounded: the oldest is left out', () => {
    const conversation = new Conversation(undefined);
    for (let n = 0; n < 1000; n++) conversation.hear({ kind: 'text', text: `${n} ${'x'.repeat(10_000)}` });
    const story = conversation.story([]);
    expect(story.length).toBeLessThan(270_000);
    expect(story).toMatch(/… \(93\d steps left out\)/);
    expect(story).toContain('- said: 999 ');
  });
});

describe('a provider that says so', () => {
  it.each(['anthropic', 'openai', 'gemini'] as const)('is understood in the words of %s', (dialect) => {
    const body = JSON.stringify(tooLong(dialect));
    expect(kindOfAnswer('bad-request', 400, Buffer.from(body))).toBe('context-full');
    expect(agentError(body, 400).kind).toBe('context-full');
  });

  it('is not taken for one that complains of something else', () => {
    expect(kindOfAnswer('bad-request', 400, Buffer.from('{"error":{"message":"no such model"}}'))).toBe(
      'bad-request',
    );
    expect(kindOfAnswer('overloaded', 500, Buffer.from('context window'))).toBe('overloaded');
    expect(agentError('API Error: 529 overloaded, context window', 529).kind).toBe('overloaded');
  });
});
