// Ranges of run ids: by how they begin, and by when they were made (uuid v7).

/** Ids from the one on (inclusive) to the other (exclusive); undefined: without an end. */
export interface IdRange {
  from?: string | undefined;
  behind?: string | undefined;
}

const LEAST = '00000000-0000-0000-0000-000000000000';
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** From its dash on: what is shorter may as well be a word. */
const BEGINNING = /^[0-9a-f]{8}-/;

/** The ids that begin so; null when it does not look like the beginning of one, with its first dash. */
export function idsBeginning(text: string): IdRange | null {
  const beginning = text.toLowerCase();
  const from = beginning + LEAST.slice(beginning.length);
  if (!BEGINNING.test(beginning) || !ID.test(from)) return null;
  return { from, behind: nextId(beginning + LEAST.replaceAll('0', 'f').slice(beginning.length)) };
}

/** The least id that is made at this time, before the year 10889; before 1970 none was. */
export function idAt(time: Date): string {
  return dashed(`${Math.max(time.getTime(), 0).toString(16).padStart(12, '0')}${'0'.repeat(20)}`);
}

/** Those that are in both. */
export function inBoth(a: IdRange, b: IdRange): IdRange {
  const from = [a.from, b.from].filter((id) => id !== undefined).sort();
  const behind = [a.behind, b.behind].filter((id) => id !== undefined).sort();
  return { from: from.at(-1), behind: behind[0] };
}

function nextId(id: string): string | undefined {
  const next = (BigInt(`0x${id.replaceAll('-', '')}`) + 1n).toString(16).padStart(32, '0');
  return next.length > 32 ? undefined : dashed(next);
}

function dashed(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
