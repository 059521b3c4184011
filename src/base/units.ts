/** Durations and sizes as people write them, as numbers. */

/** The longest that a timer can wait: some 24 days. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

const MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const BYTES = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 } as const;

export function parseDurationMs(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text);
  if (!match) throw new TypeError(`not a duration: ${text}`);
  return Math.round(Number(match[1]) * MS[match[2] as keyof typeof MS]);
}

export function parseSizeBytes(size: string | number): number {
  if (typeof size === 'number') return size;
  const match = /^(\d+(?:\.\d+)?)\s?(B|KB|MB|GB|TB)$/i.exec(size);
  if (!match) throw new TypeError(`not a size: ${size}`);
  return Math.round(Number(match[1]) * BYTES[match[2]!.toUpperCase() as keyof typeof BYTES]);
}

/** 83 → "83ms", 4200 → "4.2s", 125000 → "2m05s", 3725000 → "1h02m". */
export function formatDuration(durationMs: number): string {
  const ms = Math.max(0, durationMs); // the clock may have been set back meanwhile
  if (ms < 1000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`;
  const s = Math.floor(ms / 1000);
  if (s < 3600) return `${Math.floor(s / 60)}m${String(s % 60).padStart(2, '0')}s`;
  return `${Math.floor(s / 3600)}h${String(Math.floor((s % 3600) / 60)).padStart(2, '0')}m`;
}
