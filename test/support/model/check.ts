// Plays many histories, and shows the shortest that went wrong.
import { array, asyncProperty, check, record } from 'fast-check';
import type { Pool } from 'pg';
import { choices, type Choice } from './choice.ts';
import { History } from './history.ts';
import { faultsOf, watchVersions } from './record.ts';
import { BEGIN } from './rows.ts';
import { declareSteps, type Subject, subjects } from './subject.ts';

const histories = record({
  subjects: array(subjects, { minLength: 1, maxLength: 3 }),
  choices: array(choices, { minLength: 5, maxLength: 40, size: 'max' }),
});

/** How often a history that went wrong is made shorter and played again. */
const MOST_REPLAYS = 100;

interface Settings {
  runs: number;
  seed: number;
  /** Fewer when the machine is slow: all of them together take no longer. */
  limitMs?: number;
}

/** Plays so many histories; returns the shortest that went wrong, as text, or nothing. */
export async function findFault(pool: Pool, { runs, seed, limitMs }: Settings): Promise<string> {
  await hasten(pool);
  await watchVersions(pool);
  let why = '';
  let replays = 0;
  const property = asyncProperty(histories, async (one) => {
    if (why !== '' && replays++ >= MOST_REPLAYS) return;
    const fault = await playHistory(pool, one);
    if (fault === '') return;
    why = fault;
    throw new Error(fault);
  });
  const { failed, numRuns, numShrinks } = await check(property, {
    numRuns: runs,
    seed,
    ...(limitMs === undefined ? {} : { interruptAfterTimeLimit: limitMs }),
  });
  return failed ? `seed ${seed}, history ${numRuns}, made shorter ${numShrinks} times\n${why}` : '';
}

/**
 * Makes the database fast: nothing in it is to outlive a crash, and of the partitions it needs those of the one day that
 * histories are in.
 */
async function hasten(pool: Pool): Promise<void> {
  await pool.query(`
    do $$ declare part regclass; begin
      execute format('alter database %I set synchronous_commit to off', current_database());
      for part in select inhrelid from pg_inherits
        where inhparent in ('wfg_history'::regclass, 'wfg_attempts'::regclass, 'wfg_logs'::regclass)
      loop execute format('drop table %s', part); end loop;
    end $$;
    set synchronous_commit to off;
    select wfg_ensure_partitions('${BEGIN}'::date, '${BEGIN}'::date)`);
}

/** Returns the history and what went wrong in it, as text, or nothing. */
async function playHistory(pool: Pool, one: { subjects: Subject[]; choices: Choice[] }): Promise<string> {
  await pool.query(`delete from wfg_jobs; delete from wfg_history; delete from wfg_runs; delete from wfg_attempts;
    delete from wfg_logs; delete from wfg_event_tallies; delete from wfg_handlers; delete from versions`);
  await declareSteps(pool);
  const history = new History(pool);
  try {
    await history.begin(one.subjects);
    for (const choice of one.choices) await history.play(choice);
    await history.finish();
    const faults = await faultsOf(pool, history.jobs.values());
    return faults.length === 0 ? '' : `${history.text()}\n${faults.join('\n')}`;
  } catch (error) {
    return `${history.text()}\n${error instanceof Error ? error.message : String(error)}`;
  } finally {
    history.abandon();
  }
}
