/** An event as readers of a stream get it: its bytes are made once, however many readers there are. */
import type { FollowedEvent } from '../../contract/outputs.ts';

export class EventFrame {
  readonly cursor: string;
  readonly run: string;
  readonly isOutput: boolean;
  readonly #repository: string;
  readonly #event: FollowedEvent;
  #data: Buffer | undefined;
  #whole: Buffer | undefined;

  constructor(repository: string, event: FollowedEvent) {
    this.cursor = event.cursor;
    this.run = event.run;
    this.isOutput = event.event.type === 'attempt.output';
    this.#repository = repository;
    this.#event = event;
  }

  /** Without its id, which says in a stream of several repositories where the reader stands in each of them. */
  get data(): Buffer {
    return (this.#data ??= this.#spelt());
  }

  get whole(): Buffer {
    return (this.#whole ??= Buffer.concat([Buffer.from(`id: ${this.cursor}\n`), this.data]));
  }

  #spelt(): Buffer {
    const { cursor: _, ...event } = this.#event;
    return Buffer.from(`data: ${JSON.stringify({ repository: this.#repository, ...event })}\n\n`);
  }
}

/** Of two places in the events of a repository. */
export function isAfter(cursor: string, other: string): boolean {
  const [batch, seq] = numbersOf(cursor);
  const [otherBatch, otherSeq] = numbersOf(other);
  return batch > otherBatch || (batch === otherBatch && seq > otherSeq);
}

/** Where the events of the journal begin that `cursor` is of. */
export function startOf(cursor: string): string {
  return `0.0.${cursor.split('.')[2] ?? ''}`;
}

function numbersOf(cursor: string): [number, number] {
  const [batch, seq] = cursor.split('.');
  return [Number(batch), Number(seq)];
}
