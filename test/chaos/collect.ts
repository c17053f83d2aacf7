// Collects a history from the file and the database, when all is over.
import { existsSync, readFileSync } from 'node:fs';
import type { Pool } from 'pg';
import { commandLine, processesWith } from '../support/left-processes.ts';
import type { AttemptRow, History, JobRow, LogRow, Mark, RunRow } from './history.ts';

const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8 as ${column}`;

const jobRows = (table: 'live' | 'history', name: string) => `
  select '${table}' as table, run_id::text as run, job_id as job, kind, state, attempt, tries, losses, max_attempts,
    ${ms('finished_at')}
  from ${name}`;
const JOBS = `${jobRows('live', 'wfg_jobs')} union all ${jobRows('history', 'wfg_history')}`;

const RUNS = 'select id::text as run, state from wfg_runs';

const COLUMNS = `attempt, outcome, error, ${ms('started_at')}, ${ms('finished_at')}, step, log_chunks, log_lines, log_bytes`;
/** The last attempt is told by the job itself, unless it waits for another. */
const last = (name: string) => `
  select run_id::text as run, job_id as job, ${COLUMNS}
  from ${name} j where outcome is not null and not exists (
    select from wfg_attempts a where a.run_id = j.run_id and a.position = j.position and a.attempt = j.attempt)`;
const NAMES = `
  select run_id, position, job_id from wfg_jobs union all select run_id, position, job_id from wfg_history`;
const ATTEMPTS = `
  with name as (${NAMES})
  select a.run_id::text as run, name.job_id as job, ${COLUMNS}
  from wfg_attempts a join name using (run_id, position)
  union all ${last('wfg_jobs')} union all ${last('wfg_history')}`;

const LOGS = `
  with name as (${NAMES})
  select l.run_id::text as run, name.job_id as job, attempt, sequence, line, lines, bytes, stream, data
  from wfg_logs l join name using (run_id, position)`;

export async function collect(
  pool: Pool,
  told: Pick<History, 'items' | 'leases' | 'seenRuns' | 'told'>,
  trail: string,
): Promise<History> {
  const rows = async <T extends object>(sql: string) => (await pool.query<T>(sql)).rows;
  return {
    ...told,
    marks: readMarks(trail),
    jobs: await rows<JobRow>(JOBS),
    runs: await rows<RunRow>(RUNS),
    attempts: await rows<AttemptRow>(ATTEMPTS),
    logs: await rows<LogRow>(LOGS),
    processes: runningCommands(trail).map(commandLine),
  };
}

/** What of this trail's commands is running. */
export function runningCommands(trail: string): number[] {
  return processesWith(`TRAIL=${trail}\0`, 'WFG_RUN_ID=');
}

/** Lines `<time> <what> <run> <job> <attempt> <pid>`. */
function readMarks(trail: string): Mark[] {
  if (!existsSync(trail)) return [];
  const lines = readFileSync(trail, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [at, what, run, job, attempt, pid] = line.split(' ');
    if (what !== 'start' && what !== 'end') throw new Error(`not a mark: ${line}`);
    if (run === undefined || job === undefined) throw new Error(`not a whole mark: ${line}`);
    return { at: Number(at), what, run, job, attempt: Number(attempt), pid: Number(pid) };
  });
}
