/**
 * What is on a cassette, by what was asked: gives each recorded exchange out once. Where nothing fits it says what
 * comes nearest. No I/O.
 */
import type { Memo } from '../../base/normal-text.ts';
import { TransportError } from '../transport.ts';
import { difference, distance } from './difference.ts';
import { normalForm, type NormalForm } from './normal-form.ts';
import type { CassetteQuestion } from './question.ts';
import type { Exchange } from './cassette-file.ts';

interface Entry {
  exchange: Exchange;
  form: NormalForm;
  isUsed: boolean;
}

/** More are not compared when nothing fits. */
const COMPARED_MAX = 200;

export class Library {
  readonly #memo: Memo = new Map();
  readonly #entries: Entry[];
  readonly #byKey: Map<string, Entry[]>;

  constructor(exchanges: Exchange[]) {
    this.#entries = exchanges.map((exchange) => ({
      exchange,
      form: normalForm(exchange, this.#memo),
      isUsed: false,
    }));
    this.#byKey = Map.groupBy(this.#entries, ({ form }) => form.key);
  }

  /** In recorded order: of the same attempt first, then of the same task, then of any. Throws where there is none. */
  take(question: CassetteQuestion): Exchange {
    const form = normalForm(question, this.#memo);
    const same = this.#byKey.get(form.key) ?? [];
    const free = same.filter(({ isUsed }) => !isUsed);
    const { task, attempt } = question;
    const ofTask = free.filter(({ exchange }) => exchange.task === task);
    const entry = ofTask.find(({ exchange }) => exchange.attempt === attempt) ?? ofTask[0] ?? free[0];
    if (entry === undefined) throw new TransportError('bad-request', 400, this.#miss(question, form, same));
    entry.isUsed = true;
    return entry.exchange;
  }

  #miss(
    { task, attempt, method, provider, path }: CassetteQuestion,
    form: NormalForm,
    same: Entry[],
  ): string {
    const who = `${task} (attempt ${attempt}) asked ${provider} ${method} ${path}, and the cassette has no answer`;
    const advice = 'Record it again where this difference is meant.';
    if (same.length > 0)
      return `${who}: it was asked ${same.length === 1 ? 'once' : `${same.length} times`} when it was recorded, and now once more. ${advice}`;
    const near = this.#nearest(task, form);
    if (near === undefined) return `${who}: there is nothing on it. Record it again.`;
    const { exchange } = near;
    const from = `${exchange.task} (attempt ${exchange.attempt}, ${exchange.provider} ${exchange.method} ${exchange.path})`;
    const lines = difference(near.form.lines(), form.lines());
    return [`${who}. The nearest that was recorded is of ${from}; - recorded, + now:`, ...lines, advice].join(
      '\n',
    );
  }

  /** Of the same task first, those not used yet first; then the smallest difference. */
  #nearest(task: string, form: NormalForm): Entry | undefined {
    const ofTask = this.#entries.filter(({ exchange }) => exchange.task === task);
    const some = ofTask.length > 0 ? ofTask : this.#entries;
    const free = some.filter(({ isUsed }) => !isUsed);
    const lines = form.lines();
    const ranked = (free.length > 0 ? free : some)
      .slice(0, COMPARED_MAX)
      .map((entry) => ({ entry, by: distance(entry.form.lines(), lines) }));
    return ranked.toSorted((a, b) => a.by - b.by)[0]?.entry;
  }
}
