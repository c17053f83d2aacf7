// The log of one job as each way of reading it has it.
import { getLog } from '@wfg/shared/contract/routes/jobs';
import type { Pool } from 'pg';
import type { Cluster } from '../support/cluster.ts';
import type { ReadChunk } from './log-reader.ts';

const PAGE = 1_000;

interface JobPath {
  run: string;
  job: string;
}

/** By GET of the JSON, page by page, all attempts. */
export async function pagesOf({ wfg }: Cluster, params: JobPath): Promise<ReadChunk[]> {
  const chunks: ReadChunk[] = [];
  for (let after: string | undefined; ; ) {
    const page = await wfg(getLog, { params, query: { limit: PAGE, after } });
    chunks.push(...page.map(({ attempt, sequence, line, data }) => ({ attempt, sequence, line, data })));
    const last = page.at(-1);
    if (!last || page.length < PAGE) return chunks;
    after = `${last.attempt}:${last.sequence}`;
  }
}

/** As text, of one attempt. */
export async function rawOf(url: string, { run, job }: JobPath, attempt: number): Promise<string> {
  const response = await fetch(`${url}/api/runs/${run}/jobs/${job}/logs/raw?attempt=${attempt}`);
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return response.text();
}

/** By its rows; of a run with one job. */
export async function rowsOf(pool: Pool, { run }: JobPath): Promise<ReadChunk[]> {
  const { rows } = await pool.query<ReadChunk>(
    `select attempt, sequence::int as sequence, line::int as line, data
     from wfg_logs where run_id = $1 order by attempt, sequence`,
    [run],
  );
  return rows;
}
