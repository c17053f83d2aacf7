// Someone who knows nothing but workflow-graph's HTTP interface: stores workflows, runs them, works on their jobs.
import type { Claimed } from '@wfg/shared/contract/queued-job';
import { type GraphJobView, type GraphStatus, WorkflowView } from '@wfg/shared/contract/workflow';
import { z } from 'zod';
import { askOf, type TestApi } from './api.ts';
import { type Cluster, type ClusterSettings, startCluster } from './cluster.ts';
import { type ClaimBody, claimHttp, tell } from './foreign.ts';
import { type TestDatabase, testDatabase } from './postgres.ts';

/** A job of workflow-graph's array: whatever is not given is its id, `true`, or nothing. */
export type NewJob = { id: string } & Record<string, unknown>;

type Tell = (claimed: Pick<Claimed, 'lease'>, what: string, body?: unknown) => ReturnType<typeof tell>;

export interface GraphUser {
  ask: TestApi['ask'];
  /** Stores a workflow of these jobs and returns its id. */
  create: (...jobs: NewJob[]) => Promise<string>;
  /** Stores a workflow file's text under an id. */
  put: (id: string, yaml: string) => Promise<string>;
  /** Starts a run of a stored workflow and returns the run's id. */
  run: (id: string) => Promise<string>;
  /** Stores a workflow of these jobs and starts it. */
  start: (...jobs: NewJob[]) => Promise<{ id: string; run: string }>;
  /** The jobs of a workflow by their ids, as in its latest run. */
  jobs: (id: string) => Promise<Record<string, GraphJobView>>;
  statuses: (id: string) => Promise<Record<string, GraphStatus>>;
  /** What can be claimed now, or null. */
  claim: (body?: ClaimBody) => Promise<Claimed | null>;
  /** What can be claimed within 20 s; fails when nothing can. */
  claimed: (body?: ClaimBody) => Promise<Claimed>;
  /** What a worker says about its lease: heartbeat, complete, fail, logs. */
  tell: Tell;
  /** Cancels all that was stored, so that nothing of it can be claimed any more. */
  leave: () => Promise<void>;
}

const RunId = z.object({ run_id: z.string() });

export function graphUser(url: string): GraphUser {
  const ask = askOf(url);
  let stored: string[] = [];

  async function expectOk(method: string, path: string, ...body: [unknown?, Record<string, string>?]) {
    const answer = await ask(method, path, ...body);
    if (answer.status < 300) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  async function create(...given: NewJob[]): Promise<string> {
    const jobs = given.map((job) => ({ name: job.id, command: 'true', depends_on: [], ...job }));
    const body = await expectOk('POST', '/api/workflows', { name: 'walk', trigger: 'on: push', jobs });
    const { id } = WorkflowView.parse(body);
    stored.push(id);
    return id;
  }

  async function run(id: string): Promise<string> {
    return RunId.parse(await expectOk('POST', `/api/workflows/${id}/run`)).run_id;
  }

  async function jobs(id: string): Promise<Record<string, GraphJobView>> {
    const workflow = WorkflowView.parse(await expectOk('GET', `/api/workflows/${id}/status`));
    return Object.fromEntries(workflow.jobs.map((job) => [job.id, job]));
  }

  const claim = (body: ClaimBody = {}) => claimHttp({ ask }, body);

  return {
    ask,
    create,
    run,
    jobs,
    claim,
    async put(id, yaml) {
      stored.push(id);
      await expectOk('PUT', `/api/workflows/${id}`, yaml, { 'content-type': 'application/yaml' });
      return id;
    },
    async start(...given) {
      const id = await create(...given);
      return { id, run: await run(id) };
    },
    async statuses(id) {
      const entries = Object.entries(await jobs(id));
      return Object.fromEntries(entries.map(([job, { status }]) => [job, status]));
    },
    async claimed(body = {}) {
      const claimed = await claim({ wait_secs: 20, ...body });
      if (!claimed) throw new Error('there is nothing to claim');
      return claimed;
    },
    tell: (claimed, what, body) => tell({ ask }, claimed, what, body),
    async leave() {
      for (const id of stored) await ask('POST', `/api/workflows/${id}/cancel`);
      stored = [];
    },
  };
}

export interface Walk extends GraphUser, AsyncDisposable {
  db: TestDatabase;
  cluster: Cluster;
}

/** A user of a whole wfg on a database of its own. */
export async function startWalk(settings?: ClusterSettings): Promise<Walk> {
  const db = await testDatabase();
  const cluster = await startCluster(db, settings);
  return {
    ...graphUser(cluster.url),
    db,
    cluster,
    async [Symbol.asyncDispose]() {
      await cluster[Symbol.asyncDispose]();
      await db[Symbol.asyncDispose]();
    },
  };
}
