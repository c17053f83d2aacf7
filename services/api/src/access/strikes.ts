// Who has shown wrong tokens lately, by address: after some, no more of theirs are looked up for a while.

/** Different ones: a program that shows the same wrong token again and again guesses nothing. */
const MOST_TOKENS = 10;
/** Milliseconds from the first strike until all are forgotten. */
export const STRIKES_MS = 60_000;
/** Addresses that are remembered; the oldest are forgotten. */
const MOST_ADDRESSES = 10_000;

export interface Strikes {
  isOut: (address: string) => boolean;
  /** Notes a wrong token, known by its hash. */
  add: (address: string, hash: Buffer) => void;
}

/** `now` is a clock in milliseconds. */
export function createStrikes(now: () => number = () => performance.now()): Strikes {
  const strikes = new Map<string, { tokens: Set<string>; since: number }>();

  function of(address: string): { tokens: Set<string>; since: number } | undefined {
    const found = strikes.get(address);
    return found && now() - found.since < STRIKES_MS ? found : undefined;
  }

  return {
    isOut: (address) => (of(address)?.tokens.size ?? 0) >= MOST_TOKENS,
    add(address, hash) {
      const found = of(address) ?? { tokens: new Set(), since: now() };
      if (found.tokens.size < MOST_TOKENS) found.tokens.add(hash.toString('base64'));
      // Set anew, so that the first in the map is the one that has been there longest without a strike.
      strikes.delete(address);
      strikes.set(address, found);
      const [oldest] = strikes.keys();
      if (strikes.size > MOST_ADDRESSES && oldest !== undefined) strikes.delete(oldest);
    },
  };
}
