// Why no worker takes a job that is due, as far as it is known: nobody offers what it requires.

/** What some live workers offer alike. */
export interface Offer {
  /** With the implied ones of what can be run in these places. */
  labels: ReadonlySet<string>;
  workers: number;
  /** Of all of them. */
  places: number;
  /** All of the places are taken. */
  isFull: boolean;
}

export type Offers = readonly Offer[];

/** What is missing, in words; null when some worker offers all that is required. */
export function noWorker(required: readonly string[], offers: Offers): string | null {
  if (offers.some(({ labels }) => required.every((label) => labels.has(label)))) return null;
  const offeredByNobody = required.filter((label) => !offers.some(({ labels }) => labels.has(label)));
  // Each may be offered by somebody, and all of them by nobody.
  return `no live worker ${inWords(offeredByNobody.length > 0 ? offeredByNobody : required)}`;
}

function inWords(labels: readonly string[]): string {
  const plain = labels.filter((label) => !label.startsWith(':'));
  const handlers = labels.flatMap((label) => /^:(?:event|task) (.*)$/.exec(label)?.[1] ?? []);
  const parts = [
    ...handlers.map((type) => `has a handler for ${type}`),
    ...(plain.length > 0 ? [`offers label${plain.length > 1 ? 's' : ''} ${plain.join(' and ')}`] : []),
  ];
  return parts.join(' and ') || 'runs commands';
}
