// Plays one history against the database and the reference side by side, and compares them after each line.
import type { Pool, PoolClient } from 'pg';
import { pino } from 'pino';
import { createDoorbell } from '@wfg/shared/db/doorbell';
import { withTx } from '@wfg/shared/db/tx';
import { getStuck } from '../locks.ts';
import { advanceRuns } from '../../../services/scheduler/src/advance-runs.ts';
import { type Act, actText, type Grant } from './act.ts';
import type { Choice } from './choice.ts';
import { difference } from './difference.ts';
import { isOver, type Job } from './job.ts';
import { perform } from './perform.ts';
import { predict, type Prediction, type View } from './predict.ts';
import { resolve } from './resolve.ts';
import { BEGIN, readRows } from './rows.ts';
import type { Run } from './run.ts';
import { start, type Subject } from './subject.ts';

/** An act in a transaction that is still open. */
interface Open {
  client: PoolClient;
  act: Act;
  prediction: Prediction;
}

/** An act that waits for what the open transaction holds. */
interface Waiting extends Open {
  now: number;
  answer: Promise<string>;
}

const silent = pino({ level: 'silent' });
/** More than any history needs to come to its end. */
const ROUNDS = 6;

export class History {
  readonly jobs = new Map<string, Job>();
  readonly runs = new Map<string, Run>();
  /** What transactions of its own are in. */
  readonly #clients = new Set<PoolClient>();
  readonly #grants: Grant[] = [];
  readonly #pool: Pool;
  readonly #lines: string[] = [];
  readonly #names = new Map<string, string>();
  #now = 0;
  #open: Open | null = null;
  #waiting: Waiting | null = null;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** Its lines, numbered, with their answers. */
  text(): string {
    return this.#lines.map((line, index) => `${String(index + 1).padStart(4)}. ${line}`).join('\n');
  }

  async begin(subjects: readonly Subject[]): Promise<void> {
    await this.#setClock(0);
    for (const [index, subject] of subjects.entries()) {
      const { jobs, runs } = await start(this.#pool, subject, index + 1);
      for (const job of jobs) this.jobs.set(job.name, job);
      for (const run of runs) this.runs.set(run.name, run);
      const [{ name, run_id } = { name: '', run_id: '' }] = jobs;
      this.#names.set(run_id, name.split('/')[0] ?? name);
      this.#lines.push(`${JSON.stringify(subject)} is ${this.#names.get(run_id)}`);
    }
    await this.#compare();
  }

  async play({ line, held }: Choice): Promise<void> {
    if (line.do === 'tick') return this.tick(line.secs);
    if (line.do === 'end') return this.end(line.commit);
    const act = resolve(this.#known(), line);
    if (act) await this.act(act, held);
  }

  async tick(secs: number): Promise<void> {
    // What waits asks for the time in several statements, which in real life have that of their transaction.
    if (this.#waiting) return;
    await this.#setClock(this.#now + secs);
    this.#lines.push(`${secs} s pass`);
  }

  async act(act: Act, held = false): Promise<void> {
    const view = this.#view();
    const prediction = predict(view, act);
    if (!prediction) return;
    if (prediction.waits) {
      if (!this.#waiting && act.do !== 'advance') await this.#wait(act, prediction);
      return;
    }
    // Under a lock that another holds its writer must not print: what its seal counts has been read by then.
    if (act.do === 'print' && this.#open && view.locked.has(act.grant.job)) return;
    if (held && !this.#open && act.do !== 'advance' && act.do !== 'print') return this.#hold(act, prediction);
    const answer = await this.#commitAlone(act);
    this.#tell(actText(act), answer, prediction.answer);
    this.#apply(act, prediction);
    await this.#compare();
  }

  /** Ends the transaction that is open, and lets what waits for it go on. */
  async end(commit: boolean): Promise<void> {
    const open = this.#open;
    if (!open) return;
    this.#open = null;
    await open.client.query(commit ? 'commit' : 'rollback');
    this.#release(open.client);
    this.#lines.push(commit ? 'commit' : 'roll back');
    if (commit) this.#install(open.prediction);
    const waiting = this.#waiting;
    if (waiting) {
      this.#waiting = null;
      const answer = await waiting.answer;
      this.#release(waiting.client);
      const prediction = predict({ ...this.#view(), now: waiting.now }, waiting.act);
      if (!prediction) throw new Error('what waited cannot be told of');
      this.#tell(`… ${actText(waiting.act)}`, answer, prediction.answer);
      this.#apply(waiting.act, prediction);
    }
    await this.#compare();
  }

  /** Lets everybody work until nothing is left to do: nothing may be stuck. */
  async finish(): Promise<void> {
    await this.end(true);
    for (let round = 0; round < ROUNDS && !this.#isOver(); round++) {
      await this.tick(3_600);
      for (const act of ['expire', 'reap'] as const) await this.#actIfDue({ do: act, limit: 10 });
      for (const act of ['time out', 'advance'] as const) await this.#actIfDue({ do: act });
      const before = this.#grants.length;
      await this.play({ line: { do: 'claim', worker: 0, limit: 10 }, held: false });
      const leases = Array.from({ length: this.#grants.length - before }, (_, index) => index);
      await this.play({ line: { do: 'report', leases, how: 'completed' }, held: false });
      await this.#actIfDue({ do: 'advance' });
    }
    if (!this.#isOver()) throw new Error('it should come to an end');
  }

  async #actIfDue(act: Act): Promise<void> {
    const prediction = predict(this.#view(), act);
    if (prediction && prediction.jobs.length + prediction.runs.length > 0) await this.act(act);
  }

  #isOver(): boolean {
    return (
      [...this.jobs.values()].every(isOver) && [...this.runs.values()].every(({ state }) => state !== 'open')
    );
  }

  /** Lets go of everything, whatever has happened. */
  abandon(): void {
    for (const client of this.#clients) client.release(true);
    this.#clients.clear();
  }

  async #connect(): Promise<PoolClient> {
    const client = await this.#pool.connect();
    this.#clients.add(client);
    return client;
  }

  #release(client: PoolClient): void {
    this.#clients.delete(client);
    client.release();
  }

  async #commitAlone(act: Act): Promise<string> {
    if (act.do === 'advance') {
      await using doorbell = createDoorbell(this.#pool, silent);
      await advanceRuns(this.#pool, doorbell, silent);
      return 'done';
    }
    const inTx = act.do === 'cancel' || act.do === 'cancel run';
    return inTx
      ? withTx(this.#pool, (tx) => perform(tx, act, this.#nameOf))
      : perform(this.#pool, act, this.#nameOf);
  }

  async #hold(act: Act, prediction: Prediction): Promise<void> {
    const client = await this.#connect();
    this.#open = { client, act, prediction };
    await client.query('begin');
    const answer = await perform(client, act, this.#nameOf);
    this.#tell(`begin: ${actText(act)}`, answer, prediction.answer);
    this.#grant(act, prediction);
  }

  async #wait(act: Act, prediction: Prediction): Promise<void> {
    const client = await this.#connect();
    const { done } = await getStuck(this.#pool, client, () => perform(client, act, this.#nameOf));
    this.#waiting = { client, act, prediction, now: this.#now, answer: done };
    this.#lines.push(`${actText(act)} … waits`);
  }

  #tell(line: string, answer: string, expected: string): void {
    this.#lines.push(`${line} → ${answer}`);
    if (answer !== expected) throw new Error(`the answer should be: ${expected}`);
  }

  #apply(act: Act, prediction: Prediction): void {
    this.#grant(act, prediction);
    this.#install(prediction);
  }

  #install({ jobs, runs }: Prediction): void {
    for (const job of jobs) this.jobs.set(job.name, job);
    for (const run of runs) this.runs.set(run.name, run);
  }

  #grant(act: Act, { jobs }: Prediction): void {
    if (act.do !== 'claim') return;
    for (const { name, run_id, position, attempt } of jobs) {
      const lease = { run_id, position, attempt, nonce: act.nonce };
      this.#grants.unshift({ ...lease, job: name, by: act.by, day: BEGIN.slice(0, 10) });
    }
  }

  #known() {
    return { jobs: this.jobs, runs: this.runs, grants: this.#grants };
  }

  #view(): View {
    const held = [this.#open, this.#waiting].flatMap((one) => one?.prediction ?? []);
    const locked = held.flatMap(({ jobs, runs, locks }) => [
      ...[...jobs, ...runs].map(({ name }) => name),
      ...locks,
    ]);
    return { now: this.#now, jobs: this.jobs, runs: this.runs, locked: new Set(locked) };
  }

  readonly #nameOf = (run_id: string, job_id = 'main'): string => {
    const name = this.#names.get(run_id) ?? run_id;
    return job_id === 'main' ? name : `${name}/${job_id}`;
  };

  async #setClock(now: number): Promise<void> {
    this.#now = now;
    await this.#pool.query(
      `create or replace function wfg_now() returns timestamptz language sql stable parallel safe
       as 'select timestamptz ''${BEGIN}'' + interval ''${now} s'''`,
    );
  }

  async #compare(): Promise<void> {
    const rows = await readRows(this.#pool);
    const found = difference(this.jobs, this.runs, rows);
    if (found.length > 0) throw new Error(found.join('\n'));
    // Where chance had a say, what it said is true from now on.
    for (const [name, job] of this.jobs) {
      const row = rows.jobs.find(
        ({ run_id, position }) => run_id === job.run_id && position === job.position,
      );
      if (row) this.jobs.set(name, { ...job, run_at: row.run_at, run_at_most: row.run_at });
    }
  }
}
