/** Figures for Prometheus, in its text format: of requests, counted here; of runs, as their views say. */
import type { ServedRepository } from '../../contract/serving-schema.ts';
import { perform } from '../../operations/perform.ts';
import type { Reply } from './call.ts';

type Labels = Record<string, string>;
interface Figure {
  name: string;
  help: string;
  type: 'counter' | 'gauge';
  values: [labels: Labels, value: number][];
}

const OWN = { kind: 'program', name: 'bosun-serve' } as const;

export class Metrics {
  readonly #requests = new Map<string, { labels: Labels; count: number }>();

  count(route: string, status: number): void {
    const key = `${status} ${route}`;
    const known = this.#requests.get(key);
    if (known) known.count += 1;
    else this.#requests.set(key, { labels: { route, status: String(status) }, count: 1 });
  }

  async answer(
    repositories: readonly ServedRepository[],
    streams: { events: number; logs: number },
  ): Promise<Reply> {
    const atWork: Figure['values'] = [];
    const questions: Figure['values'] = [];
    const usd: Figure['values'] = [];
    for (const { name, directory } of repositories) {
      const runs = await perform('atWork', {}, { cwd: directory, by: OWN }).catch(() => []); // it may be gone
      const sum = (of: (run: (typeof runs)[number]) => number): number =>
        runs.reduce((all, run) => all + of(run), 0);
      const labels = { repository: name };
      atWork.push([labels, runs.length]);
      questions.push([labels, sum((run) => run.questions.length)]);
      usd.push([labels, sum(({ spending }) => spending?.usd ?? 0)]);
    }
    const figures: Figure[] = [
      {
        name: 'bosun_http_requests_total',
        help: 'Requests that were answered, by route and status.',
        type: 'counter',
        values: [...this.#requests.values()].map(({ labels, count }) => [labels, count]),
      },
      {
        name: 'bosun_event_streams',
        help: 'Open event streams.',
        type: 'gauge',
        values: [[{}, streams.events]],
      },
      {
        name: 'bosun_followed_logs',
        help: 'Logs being followed.',
        type: 'gauge',
        values: [[{}, streams.logs]],
      },
      { name: 'bosun_runs_at_work', help: 'Runs that an engine drives.', type: 'gauge', values: atWork },
      {
        name: 'bosun_questions_open',
        help: 'Questions that wait for a person.',
        type: 'gauge',
        values: questions,
      },
      { name: 'bosun_runs_at_work_usd', help: 'What runs at work have spent.', type: 'gauge', values: usd },
    ];
    return {
      status: 200,
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      body: figures.map(write).join(''),
    };
  }
}

function write({ name, help, type, values }: Figure): string {
  const lines = values.map(([labels, value]) => `${name}${spell(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function spell(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}
