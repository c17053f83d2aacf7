// The height of a scrolling region, kept current.
import { type ReadonlySignal, useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

/** Pixels; 0 until the region is in the page. */
export function useViewport(region: RefObject<HTMLElement | null>): ReadonlySignal<number> {
  const height = useSignal(0);
  useEffect(() => {
    const element = region.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => (height.value = element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return height;
}
