// The matrix of faults and loads: whatever goes wrong, each job ends once, soon after, and everything that is known of it
// tells the same story.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FAULTS } from './faults/faults.ts';
import { LOADS } from './loads/loads.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';
import { runRow } from './row.ts';
import { pageOf, type Row, tableOf } from './table.ts';

const PAIRS = FAULTS.flatMap((fault) => LOADS.map((load) => ({ fault, load, isRun: false })));
const RESULTS = new URL('results.md', import.meta.url);
const rows: Row[] = [];

let postgres: OwnPostgres;
beforeAll(async () => {
  postgres = await startOwnPostgres();
});
afterAll(async () => {
  console.log(tableOf(rows));
  const page = existsSync(RESULTS) ? await readFile(RESULTS, 'utf8') : '';
  const pairs = PAIRS.map(({ fault, load, isRun }) => ({ fault: fault.name, load: load.name, isRun }));
  await writeFile(RESULTS, pageOf(page, rows, pairs, await postgres.version()));
  await postgres[Symbol.asyncDispose]();
});

test.for(PAIRS.map((pair) => [`${pair.fault.name} × ${pair.load.name}`, pair] as const))(
  '%s',
  { timeout: 120_000 },
  async ([, pair]) => {
    pair.isRun = true;
    const { row, faults } = await runRow(postgres, pair.fault, pair.load);
    rows.push(row);
    console.log(tableOf([row]));
    const few = Object.fromEntries(Object.entries(faults).map(([name, all]) => [name, all.slice(0, 10)]));
    expect(few).toEqual(Object.fromEntries(Object.keys(faults).map((name) => [name, []])));
    expect(row).toMatchObject({ share: 1, lost: 0, doubled: 0, lostLines: 0 });
  },
);
