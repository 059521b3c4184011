/**
 * The live view as one way of showing a run. The run comes first: what draws takes long to load, so it is loaded
 * once the run is under way, and not at all where the run is quicker.
 */
import type { Recorded } from '../../../contract/event.ts';
import { ask } from '../ask.ts';
import { given } from '../command.ts';
import { LiveModel } from './model.ts';
import type { LiveView } from './view.ts';
import { say } from '../output.ts';
import type { Answerable, Pressable, Show } from '../watch.ts';

const LOAD_AFTER_MS = 30;

export class LiveShow implements Show {
  readonly #model = new LiveModel();
  readonly #said: string[] = [];
  #view: LiveView | undefined;
  #isClosed = false;
  #loading: NodeJS.Timeout | undefined;

  /** `earlier`: a run that is gone on with, whose past is shown too. */
  static async open(earlier: { run?: string } | undefined): Promise<LiveShow> {
    const show = new LiveShow();
    if (earlier) {
      const past = { ...given('run', earlier.run), withoutOutput: true };
      await ask('logs', past, { seen: (page) => show.#model.see(page) });
    }
    return show;
  }

  seen(events: Recorded[]): void {
    this.#model.see(events);
    this.#view?.seen(events);
  }

  say(text: string): void {
    this.#said.push(text);
    if (this.#view) this.#view.notice(text);
  }

  attach(live: Answerable, interrupts: Pressable): void {
    this.#loading = setTimeout(() => void this.#load(live, interrupts), LOAD_AFTER_MS);
  }

  /** What was said along the way stays. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#loading);
    this.#view?.close();
    for (const text of this.#said) say(text);
  }

  async #load(live: Answerable, interrupts: Pressable): Promise<void> {
    const { LiveView } = await import('./view.ts');
    if (this.#isClosed) return;
    this.#view = new LiveView(this.#model, {
      interrupt: () => interrupts.press(),
      ...(interrupts.cancel && { cancel: () => interrupts.cancel!() }),
      answer: (question, answer) => live.answer(question, answer),
      steer: (task, text) => live.steer(task, text),
      pause: (task) => live.pause(task),
      unpause: (task) => live.unpause(task),
    });
    const last = this.#said.findLast((text) => !text.startsWith('note: '));
    if (last !== undefined) this.#view.notice(last);
  }
}
