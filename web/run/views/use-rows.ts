/** Which rows of a long list are in view: only these are in the document. */
import { useLayoutEffect, useState, type RefObject } from 'react';

const AHEAD = 8;

export interface RowsInView {
  first: number;
  /** Not in view any more. */
  end: number;
}

/** Of rows that are all `rowPx` high, in an element that scrolls, `abovePx` below its beginning. */
export function useRows(
  scroller: RefObject<HTMLElement | null>,
  count: number,
  rowPx: number,
  abovePx = 0,
): RowsInView {
  const [seen, setSeen] = useState<RowsInView>({ first: 0, end: 60 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const look = (): void => {
      const top = element.scrollTop - abovePx;
      const first = Math.max(0, Math.floor(top / rowPx) - AHEAD);
      const end = Math.ceil((top + element.clientHeight) / rowPx) + AHEAD;
      setSeen((before) => (before.first === first && before.end === end ? before : { first, end }));
    };
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    look();
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [scroller, rowPx, abovePx, count]);
  return { first: Math.min(seen.first, Math.max(0, count - 1)), end: Math.min(seen.end, count) };
}
