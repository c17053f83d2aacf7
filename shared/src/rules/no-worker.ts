// Why no worker takes a job that is due, as far as it is known: nobody offers what it requires.

/** What each live worker offers, implied labels included. */
export type Offers = readonly ReadonlySet<string>[];

/** What is missing, in words; null when some worker offers all that is required. */
export function noWorker(required: readonly string[], offers: Offers): string | null {
  if (offers.some((offered) => required.every((label) => offered.has(label)))) return null;
  const offeredByNobody = required.filter((label) => !offers.some((offered) => offered.has(label)));
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
