/** Where a film has its marks of time; near its end none has words, since `end` or `now` stands there. */

const STEPS_S = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400, 172_800, 604_800,
];
const TICK_PX_MIN = 62;

export function ticksOf(durationMs: number, widthPx: number): { ms: number; label: string }[] {
  const most = Math.max(1, Math.floor(widthPx / TICK_PX_MIN));
  const stepS =
    STEPS_S.find((step) => durationMs / (step * 1000) <= most) ?? Math.ceil(durationMs / 1000 / most);
  const count = Math.floor(durationMs / (stepS * 1000)) + 1;
  return Array.from({ length: count }, (_, n) => {
    const ms = n * stepS * 1000;
    const isAtEnd = n > 0 && (1 - ms / durationMs) * widthPx < TICK_PX_MIN;
    return { ms, label: isAtEnd ? '' : labelOf(n * stepS) };
  });
}

function labelOf(s: number): string {
  if (s === 0) return '0';
  const [d, h, m] = [Math.floor(s / 86_400), Math.floor(s / 3600) % 24, Math.floor(s / 60) % 60];
  const parts = [d > 0 && `${d}d`, h > 0 && `${h}h`, m > 0 && `${m}m`, s % 60 > 0 && `${s % 60}s`];
  return parts.filter(Boolean).slice(0, 2).join('');
}
