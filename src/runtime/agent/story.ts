/**
 * What one agent said and did in an attempt, as its program tells it: turns it into events that a journal can hold, and
 * at the end into a result. It starts nothing.
 */
import { cutAndCount } from '../../base/cut-text.ts';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { AgentError, Tokens } from '../../contract/model.ts';
import { NO_TOKENS } from '../../contract/model.ts';
import type { Json } from '../../contract/workflow.ts';
import { failed, type CommandEnd } from './command.ts';
import { jsonIn } from '../output/json-in-text.ts';
import type { Job, Result } from '../runtime.ts';

/** Room for the words that say how much is missing. */
const MARK_CHARS = 40;
const TEXT_CHARS_MAX = 16 * 1024;
const INPUT_CHARS_MAX = 4 * 1024;
const OUTPUT_CHARS_MAX = 1024 * 1024;
const STDERR_CHARS_MAX = 1000;

export class AgentStory {
  /** As people call the agent. */
  readonly #name: string;
  readonly #job: Job;
  #turns = 0;
  #toolCalls = 0;
  #text = '';
  #isComplete = false;
  #error: AgentError | undefined;
  #madeRoom = false;
  #futile = new AbortController();
  #session: string | undefined;
  #usage: Tokens = NO_TOKENS;
  #usd: number | undefined;

  constructor(name: string, job: Job) {
    this.#name = name;
    this.#job = job;
  }

  get session(): string | undefined {
    return this.#session;
  }

  /** The program starts anew, with a prompt of its own; what was said before remains said. */
  begin(): void {
    this.#text = '';
    this.#isComplete = false;
    this.#error = undefined;
    this.#madeRoom = false;
    this.#futile = new AbortController();
  }

  /** Aborted when it is of no use that the program goes on. */
  get futile(): AbortSignal {
    return this.#futile.signal;
  }

  /** `forgets`: nobody can go on with this conversation later. */
  started(session: string, model?: string, forgets = false): void {
    if (this.#session === session) return;
    this.#session = session;
    this.#job.emit({
      kind: 'started',
      session,
      ...(model !== undefined && { model }),
      ...(forgets && { forgets }),
    });
  }

  /** The model answered once. */
  turn(): void {
    this.#turns += 1;
    this.#goesOn();
  }

  /** Some agents make room in their conversation by themselves. */
  #goesOn(): void {
    if (this.#error?.kind !== 'context-full') return;
    this.#error = undefined;
    this.#madeRoom = true;
  }

  /** The last message is the output: `whole` where `text` is only a part of it. */
  text(text: string, whole = text): void {
    if (text.trim() === '') return;
    this.#text = whole.slice(0, OUTPUT_CHARS_MAX);
    this.#job.emit({ kind: 'text', text: cutAndCount(text, TEXT_CHARS_MAX - MARK_CHARS) });
  }

  toolCall(id: string, name: string, input: Json): void {
    this.#toolCalls += 1;
    const text = typeof input === 'string' ? input : JSON.stringify(input);
    this.#job.emit({ kind: 'tool-call', id, name, input: cutAndCount(text, INPUT_CHARS_MAX - MARK_CHARS) });
  }

  toolResult(id: string, isError: boolean, text: string): void {
    this.#job.emit({
      kind: 'tool-result',
      id,
      isError,
      text: cutAndCount(text, TEXT_CHARS_MAX - MARK_CHARS),
    });
  }

  fileChanged(file: string): void {
    this.#job.emit({
      kind: 'file-changed',
      path: path.relative(this.#job.cwd, path.resolve(this.#job.cwd, file)),
    });
  }

  /** What one more step used. */
  used(tokens: Tokens, usd?: number): void {
    if (Object.values(tokens).every((count) => count === 0)) return;
    const sum = this.#usage;
    this.#usage = {
      input: sum.input + tokens.input,
      output: sum.output + tokens.output,
      cacheRead: sum.cacheRead + tokens.cacheRead,
      cacheWrite: sum.cacheWrite + tokens.cacheWrite,
    };
    if (usd !== undefined) this.#usd = (this.#usd ?? 0) + usd;
    this.#job.emit({
      kind: 'usage',
      tokens: this.#usage,
      ...(this.#usd !== undefined && { usd: this.#usd }),
    });
  }

  /** It could not go on. Of several the first is kept, unless only a later one has the status. */
  failed(error: AgentError): void {
    if (this.#error && (this.#error.status !== undefined || error.status === undefined)) return;
    this.#error = error;
  }

  /** It goes on, but to no end. */
  giveUp(error: AgentError): void {
    this.failed(error);
    this.#futile.abort();
  }

  /** It said itself that it is done. */
  complete(): void {
    this.#isComplete = true;
  }

  /** Whether the turn went well as far as the agent tells. */
  isDone({ outcome }: CommandEnd): boolean {
    const hasExited =
      outcome.kind === 'done' ||
      // OpenCode ends with 1 then, although all went well.
      (this.#madeRoom && outcome.kind === 'failed' && outcome.reason === 'exit');
    return hasExited && this.#isComplete && this.#error === undefined;
  }

  /** Call once, at the very end. */
  end(ended: CommandEnd): Result {
    const result = this.#result(ended);
    if (result.error) this.#job.emit({ kind: 'error', error: result.error });
    this.#job.emit({ kind: 'finished', turns: this.#turns, toolCalls: this.#toolCalls });
    return result;
  }

  #result(ended: CommandEnd): Result {
    const { outcome } = ended;
    if (this.isDone(ended))
      return { outcome: { kind: 'done' }, output: outputOf(this.#text, this.#job.schema !== undefined) };
    if (outcome.kind === 'cancelled' || outcome.kind === 'lost') return { outcome, output: null };
    if (outcome.kind === 'failed' && (outcome.reason === 'timeout' || outcome.reason === 'limit')) {
      return { outcome, output: null };
    }
    if (this.#error) {
      const message = `${this.#name} could not go on (${this.#error.kind}): ${this.#error.message}`;
      return { outcome: failed('agent', message), output: null, error: this.#error };
    }
    return this.#crashed(ended);
  }

  #crashed({ outcome, stdoutTail, stderrTail }: CommandEnd): Result {
    const how = outcome.kind === 'failed' ? outcome.message : 'it ended without saying how its work went';
    const said = plain(stderrTail) || plain(stdoutTail);
    const message = `${this.#name}: ${how}${said && `; it said: ${said}`}`;
    return {
      outcome: outcome.kind === 'failed' ? { ...outcome, message } : failed('agent', message),
      output: null,
      error: { kind: 'crashed', message },
    };
  }
}

function outputOf(text: string, isJsonAsked: boolean): Json {
  if (text === '') return null;
  return jsonIn(text, isJsonAsked) ?? text;
}

/** The end of what was printed, without colours. */
function plain(text: string): string {
  return stripVTControlCharacters(text).trim().slice(-STDERR_CHARS_MAX);
}
