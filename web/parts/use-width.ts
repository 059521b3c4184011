/** How wide an element is, as it changes; also one that is not there at first. */
import { useEffect, useState, type RefObject } from 'react';

export function useWidth(of: RefObject<HTMLElement | null>): number {
  const [widthPx, setWidth] = useState(0);
  const [element, setElement] = useState<HTMLElement | null>(null);
  useEffect(() => setElement(of.current));
  useEffect(() => {
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, [element]);
  return widthPx;
}
