// A live list of what the socket tells of a topic: whole at first, then what is new, changed or gone.
import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Topic, TopicFrame } from './connection.ts';
import { live } from './live.ts';

interface Reading<T> {
  topic: () => Topic;
  /** Of a whole list; null where the frame is none. */
  all: (frame: TopicFrame) => readonly T[] | null;
  /** Of one that is new or has changed. */
  one: (frame: TopicFrame) => T | null;
  gone: (frame: TopicFrame) => string | null;
  idOf: (item: T) => string;
  /** At most so many; what is new comes first. */
  most: number;
}

/** Null until the first is heard, and where `key` is null; anew when `key` changes. */
export function useListed<T>(key: string | null, reading: Reading<T>): ReadonlySignal<readonly T[] | null> {
  const items = useSignal<readonly T[] | null>(null);
  useEffect(() => {
    items.value = null;
    if (key === null) return undefined;
    return live.subscribe({
      topic: reading.topic,
      receive(frame) {
        items.value = after(items.peek(), frame, reading);
      },
    });
  }, [key]);
  return items;
}

function after<T>(known: readonly T[] | null, frame: TopicFrame, reading: Reading<T>): readonly T[] | null {
  const all = reading.all(frame);
  if (all) return all;
  if (known === null) return null;
  const gone = reading.gone(frame);
  if (gone !== null) return known.filter((item) => reading.idOf(item) !== gone);
  const one = reading.one(frame);
  if (one === null) return known;
  const id = reading.idOf(one);
  if (known.some((item) => reading.idOf(item) === id))
    return known.map((item) => (reading.idOf(item) === id ? one : item));
  return [one, ...known].slice(0, reading.most);
}
