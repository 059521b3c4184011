/** How wide an element is, as it changes. */
import { useEffect, useState, type RefObject } from 'react';

export function useWidth(of: RefObject<HTMLElement | null>): number {
  const [widthPx, setWidth] = useState(0);
  useEffect(() => {
    const element = of.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, [of]);
  return widthPx;
}
