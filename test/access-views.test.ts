/** What people see of requests for access: in the log, in the live view, in the report. */
import { describe, expect, it } from 'vitest';
import type { Event, Recorded } from '../src/contract/event.ts';
import { EventLines } from '../src/report/lines/event-lines.ts';
import { renderFrame } from '../src/doors/cli/live/frame.ts';
import { LiveModel } from '../src/doors/cli/live/model.ts';
import { painter } from '../src/doors/cli/output.ts';
import { buildReport } from '../src/report/build.ts';
import { renderHtml } from '../src/report/html/html.ts';
import { renderTextReport } from '../src/report/text/text.ts';
import { History } from './fixtures/report.ts';

const at = { task: 'one', attempt: 1 };
const asked: Event[] = [
  { type: 'attempt.started', ...at, purpose: 'work', from: [], prompt: '' },
  { type: 'access.requested', ...at, id: 'one+1', globs: ['src/api/**'] },
  { type: 'access.asked', ...at, id: 'one+1', globs: ['src/api/**'], owners: ['two'], timeoutMs: 1 },
  { type: 'access.unanswered', ...at, id: 'one+1' },
  { type: 'question.asked', id: 'one+1', task: 'one', text: 'May it change src/api/**?', default: 'no', timeoutMs: 600_000 },
]; // prettier-ignore
const granted: Event[] = [
  { type: 'question.answered', id: 'one+1', answer: 'yes', by: 'person' },
  { type: 'access.answered', ...at, id: 'one+1', globs: ['src/api/**'], answer: 'yes', by: 'person', why: 'person said yes' },
  { type: 'access.requested', ...at, id: 'one+2', globs: ['<b>\u001b[2Kx'] },
  { type: 'access.answered', ...at, id: 'one+2', globs: ['<b>\u001b[2Kx'], answer: 'no', by: 'scope', why: 'hidden' },
]; // prettier-ignore

function history(...events: Event[]): Recorded[] {
  const agent = { runtime: 'cli' as const, command: 'true', scope: { write: [] } };
  const source = {
    name: 'w',
    agents: { a: agent },
    tasks: { one: { agent: 'a', prompt: 'Go.' }, two: { run: 'true' } },
  };
  return new History('w-1', source).add(...events).events;
}

function report(...events: Event[]): ReturnType<typeof buildReport> {
  return buildReport(history(...events), { diffs: new Map(), shownState: 'running' });
}

describe('requests for access', () => {
  it('are lines of the log, one for each thing that happens', () => {
    const lines = new EventLines({ paint: painter(false), withOutput: true });
    const told = history(...asked, ...granted).map((recorded) => lines.render(recorded));
    const texts = told.join('').trimEnd().split('\n').map((line) => line.replace(/^ *\S+ +\S+ +/, '')); // prettier-ignore
    expect(texts.slice(2)).toEqual([
      'wants to change src/api/**  (one+1)',
      'one+1: asks two, which owns it',
      'one+1: no answer in time',
      'asks: May it change src/api/**?  (bosun answer one+1 yes|no --run w-1; else no in 10m00s)',
      'answered yes, by person (May it change src/api/**?)',
      'granted: src/api/** (by person): person said yes',
      expect.stringMatching(/^wants to change <b>\S*x {2}\(one\+2\)$/),
      expect.stringMatching(/^refused: <b>\S*x \(by scope: hidden\)$/),
    ]);
  });

  it('are a question in the live view while the task goes on, until there is an answer', () => {
    const model = new LiveModel();
    const options = {
      columns: 100,
      rows: 20,
      nowMs: history(...asked).at(-1)!.atMs + 30_000,
      hasKeys: true,
      paint: painter(false),
      notice: '',
    };
    model.see(history(...asked));
    const question = '? one: May it change src/api/**?  [y]es [n]o · else no in 9m30s';
    expect(renderFrame(model, options)).toContain(question);
    expect(renderFrame(model, options).join('\n')).toMatch(/asking +one/);
    model.see(granted.map((event, n) => ({ run: 'w-1', seq: 100 + n, atMs: 1, event })));
    expect(renderFrame(model, options)).not.toContain(question);
  });

  it('are in the report with what became of them, and leave the task running', () => {
    const open = report(...asked);
    expect(open.tasks[0]).toMatchObject({ state: 'running', access: [{ id: 'one+1', answer: null }] });
    expect(open.next[0]).toMatchObject({ command: 'bosun answer one+1 yes' });
    const done = report(...asked, ...granted);
    const text = renderTextReport(done, { color: false, width: 100 });
    expect(text).toContain('✓ one  granted: src/api/** (by person)\n');
    expect(text).toMatch(/✗ one {2}refused: <b>\S*x \(by scope: hidden\)\n/);
    const html = renderHtml(done);
    expect(text + html).not.toContain('\u001b');
    expect(html).toContain('<li>granted: src/api/** (by person)</li>');
    expect(html).toMatch(/<li>refused: &lt;b&gt;\S*x \(by scope: hidden\)<\/li>/);
  });

  it('leave no open question in the report when the attempt ends first', () => {
    const why = 'the attempt has ended';
    const { questions } = report(...asked, {
      type: 'access.answered', ...at, id: 'one+1', globs: ['src/api/**'], answer: 'no', by: 'ended', why,
    }); // prettier-ignore
    expect(questions).toMatchObject([{ id: 'one+1', answer: 'no', by: 'ended' }]);
  });
});
