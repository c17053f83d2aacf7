// Why no worker takes a job that is due, though some offer what it requires: all their places are taken.
import type { Offers } from './no-worker.ts';

/** In words; null when a place is free, or may be. */
export function noPlace(required: readonly string[], offers: Offers): string | null {
  const able = offers.filter(({ labels }) => required.every((label) => labels.has(label)));
  if (able.length === 0 || able.some(({ isFull }) => !isFull)) return null;
  const places = able.reduce((sum, offer) => sum + offer.places, 0);
  const workers = able.reduce((sum, offer) => sum + offer.workers, 0);
  const which = workers === 1 ? 'worker' : `${workers} workers`;
  if (places === 1) return `the one place of the ${which} that could take it is busy`;
  return `all ${places} places of the ${which} that could take it are busy`;
}
