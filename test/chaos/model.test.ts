// The reference of test/support/model against thousands of histories; and that it finds faults which are planted.
import { expect, test } from 'vitest';
import { findFault } from '../support/model/check.ts';
import { type Fault, plant } from '../support/model/plant.ts';
import { testDatabase } from '../support/postgres.ts';

const HISTORIES = Number(process.env['MODEL_HISTORIES'] ?? 2_000);

test(`${HISTORIES} histories`, { timeout: 3_600_000 }, async () => {
  await using db = await testDatabase();
  expect(await findFault(db.pool, { runs: HISTORIES, seed: Date.now() })).toBe('');
});

const FENCE = 'and j.attempt = r.attempt and j.nonce = r.nonce\n  order by';
const PLANTED: { name: string; fault: Fault }[] = [
  { name: 'a report without a fence', fault: { from: FENCE, to: 'order by' } },
  {
    name: 'a reaper that forgets tries',
    fault: { from: 'when charged and tries >= budget then', to: 'when false then' },
  },
  {
    name: 'a hand-back that is charged',
    fault: { from: "when d.ended_as = 'handed_back' or d.is_parked then", to: 'when d.is_parked then' },
  },
  {
    name: 'a loss that is charged where it is the end',
    fault: {
      from: 'when d.charged then j.tries else',
      to: "when d.charged or d.next <> 'pending' then j.tries else",
    },
  },
  {
    name: 'a cancel that a late report turns',
    fault: { from: "when cancelled then 'cancelled'\n      when outcome", to: 'when outcome' },
  },
  {
    name: 'a retry whose attempt leaves no record',
    fault: { from: "from decided where next = 'pending'", to: 'from decided where false' },
  },
  {
    name: 'a lost lease that can still be reported on',
    fault: { from: 'nonce = -j.nonce', to: 'nonce = j.nonce' },
  },
  {
    name: 'a lease that another worker may renew or give up',
    fault: { from: 'and j.attempt = m.attempt and j.nonce = m.nonce\n  order by', to: 'order by' },
  },
  {
    name: 'a cancel that does not lock what it judges',
    fault: {
      from: 'where j.run_id = run and j.job_id = job for update',
      to: 'where j.run_id = run and j.job_id = job',
    },
  },
];

test.for(PLANTED)('finds $name', { timeout: 600_000 }, async ({ fault }) => {
  await using db = await testDatabase();
  const planted = await plant(db.pool, fault);
  const found = await findFault(db.pool, { runs: 500, seed: 1 });
  console.log(found);
  expect(planted()).toBeGreaterThan(0);
  expect(found).not.toBe('');
});
