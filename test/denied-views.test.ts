/** What people see of connections that were denied: in the log, in the live view, in the report. */
import { describe, expect, it } from 'vitest';
import type { Event, Recorded } from '../src/contract/event.ts';
import { EventLines } from '../src/report/lines/event-lines.ts';
import { LiveModel } from '../src/doors/cli/live/model.ts';
import { painter } from '../src/doors/cli/output.ts';
import { buildReport } from '../src/report/build.ts';
import { renderHtml } from '../src/report/html/html.ts';
import { renderTextReport } from '../src/report/text/text.ts';
import { decide } from '../src/schedule/decide/decide.ts';
import { apply, create } from '../src/schedule/fold/fold.ts';
import { History } from './fixtures/report.ts';

const WHY = 'scope.network does not name it';

function denied(host: string, port = 443, attempt = 1, why = WHY): Event {
  return { type: 'attempt.denied', task: 'one', attempt, host, port, why };
}

function history(...events: Event[]): Recorded[] {
  const source = { name: 'w', tasks: { one: { run: 'true' }, two: { run: 'true' } } };
  const started: Event = { type: 'attempt.started', task: 'one', attempt: 1, purpose: 'work', from: [], prompt: '' }; // prettier-ignore
  return new History('w-1', source).add(started, ...events).events;
}

function report(...events: Event[]): ReturnType<typeof buildReport> {
  return buildReport(history(...events), { diffs: new Map(), shownState: 'running' });
}

describe('a denied connection', () => {
  it('is a line of the log that names the host and the reason', () => {
    const lines = new EventLines({ paint: painter(false), withOutput: false });
    const told = history(denied('api.example.com'), denied('::1', 80), denied('x', 0, 1, 'it has no port'))
      .map((recorded) => lines.render(recorded))
      .slice(2);
    expect(told.map((line) => line.replace(/^ *\S+ +\S+ +/, ''))).toEqual([
      `denied: api.example.com:443 (${WHY})\n`,
      `denied: [::1]:80 (${WHY})\n`,
      'denied: x (it has no port)\n',
    ]);
  });

  it('is what the live view says of the task, until there is something newer', () => {
    const model = new LiveModel();
    model.see(history(denied('api.example.com')));
    const line = (): string => model.rows(1, 1).rows[0]!.line;
    expect(line()).toBe(`denied: api.example.com:443 (${WHY})`);
    const output: Event = { type: 'attempt.output', task: 'one', attempt: 1, stream: 'stdout', text: 'on\n' };
    model.see([{ run: 'w-1', seq: 9, atMs: 1, event: output }]);
    expect(line()).toBe('on');
  });

  it('is in the report once for each place, with the number of attempts', () => {
    const made = report(denied('a.example'), denied('a.example', 443, 2), denied('<b>\u001b[2K', 80));
    expect(made.tasks[0]).toMatchObject({
      denied: [
        { host: 'a.example', port: 443, why: WHY, count: 2 },
        { port: 80, count: 1 },
      ],
      deniedLeftOut: 0,
    });
    expect(made.tasks[1]).toMatchObject({ denied: [] });
    const text = renderTextReport(made, { color: false, width: 100 });
    expect(text).toContain(`Denied connections\n  one  a.example:443 (${WHY}), in 2 attempts\n`);
    const html = renderHtml(made);
    expect(html).toContain(`<li>a.example:443 (${WHY}), in 2 attempts</li>`);
    expect(html).toContain('<li>&lt;b&gt;');
    expect(text + html).not.toContain('\u001b');
  });

  it('does not make a report grow without end', () => {
    const many = report(...Array.from({ length: 500 }, (_, n) => denied(`${n}.example`)));
    expect(many.tasks[0]).toMatchObject({ deniedLeftOut: 400 });
    expect(many.tasks[0]!.denied).toHaveLength(100);
    expect(renderTextReport(many, { color: false, width: 100 })).toContain('… and 494 more\n');
    expect(renderHtml(many)).toContain('and 400 more');
  });

  it('decides nothing: what waits for a decision still does', () => {
    const [created, started] = history();
    if (created?.event.type !== 'run.created') throw new TypeError('no run');
    const state = create(created.event, 0);
    const outcome = { kind: 'failed' as const, reason: 'exit' as const, message: 'it failed' };
    apply(state, { type: 'tasks.ready', tasks: ['one', 'two'] }, 0);
    apply(state, started!.event, 0);
    apply(state, { type: 'attempt.finished', task: 'one', attempt: 1, outcome, durationMs: 1 }, 0);
    const next = decide(state);
    expect(next).toMatchObject({ type: 'task.finished', task: 'one' });
    apply(state, denied('a.example'), 0);
    expect(decide(state)).toEqual(next);
  });
});
