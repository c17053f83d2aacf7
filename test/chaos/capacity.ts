// How many of a load this very cluster does in a second: for some seconds it is offered all that it accepts, and timed
// until nine tenths of that have ended.
import type { Pool } from 'pg';
import { waitFor } from '../support/wait-for.ts';
import { type Accepted, type Offering, offer } from './offer.ts';

/** The rest may be long by plan. */
const SHARE = 0.9;
const LIMIT_MS = 60_000;
const BURST_MS = 3_000;

const OPEN = `
  select (
    (select count(distinct run_id) from wfg_jobs where state in ('pending', 'active') and position = 0)
    + (select count(*) from wfg_runs where state = 'open')
  )::int as open`;

/** Runs that go on. */
export async function openRuns(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ open: number }>(OPEN);
  return rows[0]?.open ?? 0;
}

interface Burst {
  accepted: Accepted[];
  perSec: number;
}

/** Offers `count` at most. */
export async function measureCapacity(
  pool: Pool,
  offering: Omit<Offering, 'perSec' | 'until'> & { count: number },
): Promise<Burst> {
  const begun = performance.now();
  const until = AbortSignal.timeout(BURST_MS);
  const accepted = await offer({ ...offering, perSec: Number.POSITIVE_INFINITY, until });
  const most = Math.ceil(accepted.length * (1 - SHARE));
  await waitFor('most of the burst to end', async () => (await openRuns(pool)) <= most, LIMIT_MS);
  const perSec = ((accepted.length - most) / (performance.now() - begun)) * 1_000;
  await waitFor('all of the burst to end', async () => (await openRuns(pool)) === 0, LIMIT_MS);
  return { accepted, perSec };
}
