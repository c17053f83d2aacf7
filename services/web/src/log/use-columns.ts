// How many characters of the log's font fit into a row.
import type { ReadonlySignal, Signal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect } from 'preact/hooks';

const SAMPLE = 64;
const LEAST = 20;

/** Keeps `columns` current; `gutter` is what changes how much stands before the text. */
export function useColumns(
  region: RefObject<HTMLElement | null>,
  columns: Signal<number>,
  gutter: ReadonlySignal<string>,
): void {
  useEffect(() => {
    const element = region.current;
    if (!element) return undefined;
    const probe = document.createElement('span');
    probe.className = 'unseen log-probe';
    probe.textContent = 'x'.repeat(SAMPLE);
    probe.ariaHidden = 'true';
    element.append(probe);
    const measure = () => {
      const width = probe.scrollWidth / SAMPLE;
      const before = Number.parseFloat(getComputedStyle(element).getPropertyValue('--before')) || 0;
      if (width > 0) columns.value = Math.max(LEAST, Math.floor((element.clientWidth - before) / width));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      observer.disconnect();
      probe.remove();
    };
  }, [gutter.value]);
}
