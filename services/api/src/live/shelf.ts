// Keeps feeds by name, each while somebody uses it and a moment longer, so that who asks anew finds it.
import type { Heard } from './heard.ts';

const LINGER_MS = 1_000;

/** What is read once for all viewers of the same thing. */
export interface Feed extends AsyncDisposable {
  hear: (heard: Heard) => void;
}

interface Kept<F> {
  feed: F;
  users: number;
  leaving?: NodeJS.Timeout | undefined;
}

export interface Shelf<F extends Feed> extends AsyncDisposable {
  hear: (heard: Heard) => void;
  count: () => number;
  /** The feed of this name, made if there is none; to be disposed of by each who opened it. */
  open: (name: string, make: () => F) => { feed: F } & Disposable;
}

/** What nobody uses any more goes a second later. */
export function createShelf<F extends Feed>(): Shelf<F> {
  const all = new Map<string, Kept<F>>();

  function release(name: string, kept: Kept<F>): void {
    if (--kept.users > 0) return;
    kept.leaving = setTimeout(() => {
      all.delete(name);
      void kept.feed[Symbol.asyncDispose]();
    }, LINGER_MS);
  }

  return {
    hear(heard) {
      for (const { feed } of all.values()) feed.hear(heard);
    },
    count: () => all.size,
    open(name, make) {
      const kept = all.get(name) ?? { feed: make(), users: 0 };
      all.set(name, kept);
      clearTimeout(kept.leaving);
      kept.users++;
      return { feed: kept.feed, [Symbol.dispose]: () => release(name, kept) };
    },
    async [Symbol.asyncDispose]() {
      for (const { leaving } of all.values()) clearTimeout(leaving);
      await Promise.all([...all.values()].map(({ feed }) => feed[Symbol.asyncDispose]()));
      all.clear();
    },
  };
}
