// The README's examples, to be run as they stand there.
import { readFileSync } from 'node:fs';

/** The SQL of a section. @throws when it has none. */
export function examplesOf(section: string): string {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const text = readme.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? '';
  const blocks = [...text.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, block]) => block);
  if (blocks.length === 0) throw new Error(`the README has no SQL under ${section}`);
  return blocks.join('\n');
}
