/**
 * Which part of a long list is in view, and whether its end stays in view while it grows. What is new moves nothing under
 * who reads further up.
 */
import { useCallback, useLayoutEffect, useRef, useState, type RefObject } from 'react';

interface Scrolled {
  topPx: number;
  heightPx: number;
  widthPx: number;
}

export interface Scroll extends Scrolled {
  scroller: RefObject<HTMLDivElement | null>;
  isFollowing: boolean;
  follow(isOn: boolean): void;
  /** To there, and no further. */
  to(topPx: number): void;
}

const NEAR_END_PX = 6;

/** `allPx`: how high all of it is. `follows`: from the beginning on. */
export function useScroll(allPx: number, { follows = false }: { follows?: boolean } = {}): Scroll {
  const scroller = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState<Scrolled>({ topPx: 0, heightPx: 0, widthPx: 0 });
  const [isFollowing, setFollowing] = useState(follows);
  const wanted = useRef(follows);
  wanted.current = isFollowing;

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return undefined;
    const look = (): void => {
      const next = { topPx: element.scrollTop, heightPx: element.clientHeight, widthPx: element.clientWidth };
      setSeen((before) =>
        before.topPx === next.topPx && before.heightPx === next.heightPx && before.widthPx === next.widthPx
          ? before
          : next,
      );
    };
    let lastPx = element.scrollTop;
    const onScroll = (): void => {
      const { scrollTop, clientHeight, scrollHeight } = element;
      const isAtEnd = scrollTop + clientHeight >= scrollHeight - NEAR_END_PX;
      // Only who goes up wants to read there: it also scrolls by itself, when it grows.
      if (scrollTop < lastPx - 1 && !isAtEnd) setFollowing(false);
      else if (isAtEnd && follows) setFollowing(true);
      lastPx = scrollTop;
      look();
    };
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', onScroll, { passive: true });
    look();
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', onScroll);
    };
  }, [follows]);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || !isFollowing) return;
    element.scrollTop = element.scrollHeight;
  }, [isFollowing, allPx, seen.heightPx]);

  const to = useCallback((topPx: number) => {
    setFollowing(false);
    requestAnimationFrame(() => scroller.current?.scrollTo({ top: topPx }));
  }, []);
  // What is about to be scrolled to is drawn at once.
  const topPx = isFollowing ? Math.max(0, allPx - seen.heightPx) : seen.topPx;
  return { ...seen, topPx, scroller, isFollowing, follow: setFollowing, to };
}
