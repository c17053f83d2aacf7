// Who has shown wrong tokens lately, by address: after some, no more of theirs are looked up for a while.

const MOST_STRIKES = 10;
/** Milliseconds from the first strike until all are forgotten. */
export const STRIKES_MS = 60_000;
/** Addresses that are remembered; the oldest are forgotten. */
const MOST_ADDRESSES = 10_000;

export interface Strikes {
  isOut: (address: string) => boolean;
  add: (address: string) => void;
}

/** `now` is a clock in milliseconds. */
export function createStrikes(now: () => number = () => performance.now()): Strikes {
  const strikes = new Map<string, { count: number; since: number }>();

  function of(address: string): { count: number; since: number } | undefined {
    const found = strikes.get(address);
    return found && now() - found.since < STRIKES_MS ? found : undefined;
  }

  return {
    isOut: (address) => (of(address)?.count ?? 0) >= MOST_STRIKES,
    add(address) {
      const found = of(address) ?? { count: 0, since: now() };
      found.count++;
      // Set anew, so that the first in the map is the one that has been there longest without a strike.
      strikes.delete(address);
      strikes.set(address, found);
      const [oldest] = strikes.keys();
      if (strikes.size > MOST_ADDRESSES && oldest !== undefined) strikes.delete(oldest);
    },
  };
}
