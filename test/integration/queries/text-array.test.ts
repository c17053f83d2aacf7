// Texts as they arrive in the database.
import { textArray } from '@wfg/shared/db/text-array';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { testDatabase } from '../../support/postgres.ts';

test('an array arrives as it is, whatever its texts', async () => {
  await using database = await testDatabase({ empty: true });
  const sent = async (texts: string[]) => {
    const { rows } = await database.pool.query('select $1::text[] as texts', [textArray(texts)]);
    return rows[0]?.texts;
  };
  const odd = ['', 'NULL', '"', '\\', '{a,b}', ' \n\t\r', 'é€😀', "'", '\u2400', 'x'.repeat(100_000)];
  expect(await sent(odd)).toEqual(odd);
  expect(await sent([])).toEqual([]);
  const text = fc.string({ unit: 'binary' }).map((made) => made.replaceAll('\0', ''));
  await fc.assert(
    fc.asyncProperty(fc.array(text), async (texts) => {
      expect(await sent(texts)).toEqual(texts);
    }),
    { numRuns: 30 },
  );
  await expect(sent(['a', '\0'])).rejects.toMatchObject({ code: '22021' });
});
