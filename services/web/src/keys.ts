// What keys do at the moment: parts of the page give them a meaning while they are there, and the help lists them.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

export interface Key {
  /** As KeyboardEvent.key has it, such as `j`, `?` or `Escape`. */
  key: string;
  /** For the help, such as `Next job`. */
  does: string;
  press: () => void;
}

interface Group {
  title: string;
  keys: readonly Key[];
}

/** The last to come is asked first. */
export const groups = signal<readonly Group[]>([]);

/** Gives keys a meaning while the component is in the page. Never while text is typed or a dialog is open. */
export function useKeys(title: string, keys: readonly Key[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const group: Group = {
      title,
      get keys() {
        return latest.current;
      },
    };
    groups.value = [group, ...groups.peek()];
    return () => {
      groups.value = groups.peek().filter((one) => one !== group);
    };
  }, [title]);
}

addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  const { target } = event;
  if (!(target instanceof HTMLElement) || takesText(target) || document.querySelector('dialog[open]')) return;
  const found = groups
    .peek()
    .flatMap(({ keys }) => keys)
    .find(({ key }) => key === event.key);
  if (!found) return;
  event.preventDefault();
  found.press();
});

function takesText(element: HTMLElement): boolean {
  return element.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName);
}
