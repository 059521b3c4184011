/** A run as one strip of bars, who was at work when: its face in lists, its film, and in full its timeline. Types only. */
export interface Strip {
  fromMs: number;
  /** Its end, or its last event. */
  toMs: number;
  lanes: number;
  bars: StripBar[];
  /** How many more bars there are than `bars` has room for. */
  leftOut: number;
}

/** An attempt. */
export interface StripBar {
  task: string;
  label: string;
  attempt: number;
  lane: number;
  fromMs: number;
  /** Null while it is at work. */
  toMs: number | null;
  /** Null while it is at work. */
  end: 'done' | 'failed' | 'cancelled' | 'lost' | null;
  /** When it waited for a person. */
  asked: { fromMs: number; toMs: number | null }[];
}
