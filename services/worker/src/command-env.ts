// The environment of a command: an allow-list, never the worker's own, which holds the database's password.

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** An output that is longer is only in the file WFG_UPSTREAM, as are all behind this many bytes together. */
const MAX_OUTPUT_BYTES = 32_768;
const MAX_OUTPUTS_BYTES = 524_288;
/** What Linux takes for one `NAME=value` or argument, its closing NUL included. */
const MAX_STRING_BYTES = 131_072;

export type Env = Record<string, string>;

export interface CommandEnv {
  /** PATH, LANG and TZ are taken from it. */
  workerEnv: NodeJS.ProcessEnv;
  /** The workflow's, the job's and the step's, merged. */
  jobEnv: Env;
  /** The job's folder for all that is not its work. */
  home: string;
  outputFile: string;
  /** Null without upstream jobs. */
  upstreamFile: string | null;
  runId: string;
  workflowId: string | null;
  jobId: string;
  attempt: number;
  try: number;
  workerId: string;
  /** Outputs of the direct dependencies, by job and key. */
  upstream: Record<string, Env>;
}

/** Later ones win: what comes from the worker, the job's own, what wfg says about the job. */
export function commandEnv(job: CommandEnv): Env {
  const { PATH = DEFAULT_PATH, LANG, TZ } = job.workerEnv;
  const env: Env = {
    PATH,
    ...(LANG !== undefined && { LANG }),
    ...(TZ !== undefined && { TZ }),
    HOME: job.home,
    TMPDIR: job.home,
    CI: 'true',
    ...job.jobEnv,
    WFG_WORKFLOW_ID: job.workflowId ?? '',
    WFG_RUN_ID: job.runId,
    WFG_JOB_ID: job.jobId,
    WFG_ATTEMPT: String(job.attempt),
    WFG_TRY: String(job.try),
    WFG_WORKER_ID: job.workerId,
    WFG_OUTPUT: job.outputFile,
    ...(job.upstreamFile !== null && { WFG_UPSTREAM: job.upstreamFile }),
  };
  return { ...env, ...upstreamEnv(job.upstream, env) };
}

/** `WFG_OUT_<JOB>_<KEY>` for each output, except long ones, names that collide, and all behind 512 KiB by name. */
function upstreamEnv(upstream: Record<string, Env>, taken: Env): Env {
  // Null for a name that several have. A job may have thousands of upstream jobs.
  const byName = new Map<string, string | null>();
  for (const [job, outputs] of Object.entries(upstream)) {
    for (const [key, value] of Object.entries(outputs)) {
      const name = `WFG_OUT_${job}_${key}`.toUpperCase().replaceAll(/[^A-Z0-9_]/gu, '_');
      byName.set(name, byName.has(name) ? null : value);
    }
  }
  const env: Env = {};
  let bytes = 0;
  for (const [name, value] of [...byName].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (value === null || Object.hasOwn(taken, name)) continue;
    if (Buffer.byteLength(value) > MAX_OUTPUT_BYTES || value.includes('\0')) continue;
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value);
    if (bytes > MAX_OUTPUTS_BYTES) break;
    env[name] = value;
  }
  return env;
}

/** Says which variable no process can be started with, and why; null if there is none. */
export function findBadVariable(env: Env): string | null {
  for (const [name, value] of Object.entries(env)) {
    if (!/^[^=\0]+$/.test(name))
      return `env ${JSON.stringify(name)} is not a name: choose one without = and NUL`;
    if (value.includes('\0')) return `env ${name} holds a NUL character: pass such data by file`;
    const bytes = Buffer.byteLength(name) + Buffer.byteLength(value) + 2;
    if (bytes > MAX_STRING_BYTES) return `env ${name} is longer than 128 KiB: pass long values by file`;
  }
  return null;
}
