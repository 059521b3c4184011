/** ← and → wind the film by five seconds, with shift to the next event; Space goes back to now. */
import { useEffect, useRef } from 'react';
import { useCommands } from '../app/commands.tsx';
import { countUntil, type RunAt } from './run-at.ts';

const STEP_MS = 5000;

export function useFilmKeys(at: RunAt, wind: (atMs: number | null) => void): void {
  // Keys may be struck faster than the page is drawn: each goes on from where the one before led.
  const moment = useRef<number | null>(null);
  moment.current = at.isLive ? null : at.atMs;
  const to = (atMs: number | null): void => {
    moment.current = atMs;
    wind(atMs);
  };
  const by = (ms: number) => () => {
    const next = (moment.current ?? at.lastAtMs) + ms;
    to(next >= at.lastAtMs ? null : Math.max(at.startedAtMs, next));
  };
  const toEvent = (step: 1 | -1) => () => to(eventBeside(at, moment.current ?? at.lastAtMs, step));
  useCommands([
    { id: 'film-back', label: 'Five seconds back', keys: 'ArrowLeft', run: by(-STEP_MS) },
    { id: 'film-on', label: 'Five seconds on', keys: 'ArrowRight', run: by(STEP_MS) },
    { id: 'film-live', label: 'Back to live', keys: 'Space', isDisabled: at.isLive, run: () => to(null) },
  ]);
  const shifted = useRef({ ArrowLeft: toEvent(-1), ArrowRight: toEvent(1) });
  shifted.current = { ArrowLeft: toEvent(-1), ArrowRight: toEvent(1) };
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, shiftKey, target } = event;
      if (!shiftKey || event.defaultPrevented || (key !== 'ArrowLeft' && key !== 'ArrowRight')) return;
      if (target instanceof Element && target.closest('input, textarea, select, [contenteditable]')) return;
      event.preventDefault();
      shifted.current[key]();
    };
    document.addEventListener('keydown', onKey, { capture: true });
    return () => document.removeEventListener('keydown', onKey, { capture: true });
  }, []);
}

/** The moment of the next event, or of the one before; those of one moment are one step. Null behind the last. */
function eventBeside({ events }: RunAt, atMs: number, step: 1 | -1): number | null {
  if (step === 1) return events[countUntil(events, atMs)]?.atMs ?? null;
  const before = countUntil(events, atMs - 1);
  return events[Math.max(0, before - 1)]!.atMs;
}
