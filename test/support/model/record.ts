// What must hold of any history, whatever the reference says: read from what every version of every row was.
import type { JobState } from '@wfg/shared/contract/job';
import { readAttempts, toAttempt } from '@wfg/shared/queries/attempts';
import { MOVES } from '@wfg/shared/rules/states';
import type { Pool } from 'pg';
import type { Job } from './job.ts';

interface Version {
  run_id: string;
  position: number;
  is_live: boolean;
  state: JobState;
  version: number;
  attempt: number;
  tries: number;
  max_attempts: number;
  has_lease: boolean;
}

const VERSION = `new.run_id, new.position, new.state, new.version, new.attempt, new.tries, new.max_attempts,
  new.lease_expires_at is not null`;

/** Notes every committed version of a job's row from now on. */
export async function watchVersions(pool: Pool): Promise<void> {
  await pool.query(`
    create table versions (id bigint generated always as identity, is_live boolean, run_id uuid, position int, state text,
      version int, attempt int, tries int, max_attempts int, has_lease boolean);
    create function note_version() returns trigger language plpgsql as $$
    begin
      insert into versions (is_live, run_id, position, state, version, attempt, tries, max_attempts, has_lease)
      values (tg_argv[0]::boolean, ${VERSION});
      return null;
    end $$;
    create trigger note after insert or update on wfg_jobs for each row execute function note_version('true');
    create trigger note after insert on wfg_history for each row execute function note_version('false')`);
}

const LEFT_NEVER: ReadonlySet<JobState> = new Set(['completed', 'cancelled', 'skipped']);
const allowed = new Set(MOVES.map(({ from, to }) => `${from}>${to}`));

/** What is wrong with the versions of the rows. */
export async function faultsOf(pool: Pool, jobs: Iterable<Job>): Promise<string[]> {
  const { rows } = await pool.query<Version>('select * from versions order by id');
  const faults: string[] = [];
  for (const job of jobs) {
    const own = rows.filter(({ run_id, position }) => run_id === job.run_id && position === job.position);
    const broken = own.flatMap((row, index) => [...brokenBy(row, own[index - 1])]);
    faults.push(...broken.map((fault) => `${job.name}: ${fault}`));
    faults.push(...(await recordFaults(pool, job)));
  }
  return faults;
}

function* brokenBy(row: Version, before: Version | undefined): Generator<string> {
  const { state, version, attempt, tries, max_attempts, has_lease } = row;
  if (tries > max_attempts) yield `tries within budget: ${tries} of ${max_attempts}`;
  if (has_lease !== (state === 'active')) yield `a lease on what runs, and on nothing else: ${state}`;
  if (!before) {
    if (!allowed.has(`new>${state}`)) yield `moves of the table: new > ${state}`;
    return;
  }
  const moved = before.state !== state;
  if (moved && !allowed.has(`${before.state}>${state}`))
    yield `moves of the table: ${before.state} > ${state}`;
  if (moved && LEFT_NEVER.has(before.state)) yield `a job ends once: ${before.state} > ${state}`;
  if (!before.is_live) yield 'nothing happens in history';
  if (version < before.version || (moved && version === before.version)) {
    yield `each transition has a version: ${before.state} ${before.version} > ${state} ${version}`;
  }
  const begun = moved && state === 'active' ? 1 : 0;
  if (attempt !== before.attempt + begun) yield `each claim is a new attempt: ${before.attempt} > ${attempt}`;
}

/** The attempts, as readers see them, against what has ended: each once, sealed. */
async function recordFaults(pool: Pool, job: Job): Promise<string[]> {
  const read = await readAttempts(pool, job.run_id, job.role ?? 'main');
  const told = (read?.attempts ?? []).map((row) => {
    const { attempt, try: tried, outcome, error, log } = toAttempt(row);
    return JSON.stringify({ attempt, try: tried, outcome, error, sealed: row.sealed, chunks: log.chunks });
  });
  const expected = job.endings.map(({ attempt, try: tried, outcome, error, chunks }) =>
    JSON.stringify({ attempt, try: tried, outcome, error, sealed: chunks, chunks }),
  );
  if (told.join('\n') === expected.join('\n')) return [];
  return [
    `${job.name}: one sealed record of each attempt: ${told.join(' ')}, and should be ${expected.join(' ')}`,
  ];
}
