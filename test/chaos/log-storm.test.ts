// A log of a million lines is followed by fifty viewers who come and go, while everything between the command and them is
// killed and cut in turn: everyone has each line once, in order, and is told the end. Only its worker lives on; where that
// is killed, the attempt is lost with what it had not stored, and the next prints again.
import { setTimeout as sleep } from 'node:timers/promises';
import { createPool } from '@wfg/shared/db/pool';
import type { Pool } from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { newGate } from '../support/gate.ts';
import { killWorker } from '../support/kill-worker.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { reasonsOf } from '../support/worker.ts';
import { expectWhole } from './expect-whole.ts';
import { backendKills } from './faults/backends.ts';
import type { Fault } from './faults/fault.ts';
import { killLoop } from './faults/kill-loop.ts';
import { blackHoledListen, cutLink, lostAnswers, resetLink, slowLink } from './faults/network.ts';
import { kill, restart } from './faults/postgres.ts';
import { keepLogs } from './keep-logs.ts';
import { Transcript } from './log-reader.ts';
import { followInTerminal, type LogViewer, watchLog } from './log-viewers.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';
import { moreThan, tracesOf } from './traces-left.ts';

const LINES = 1_000_000;
/** Lines are printed so many at a time, and these so far apart that printing lasts about as long as the faults. */
const BURST = 400;
const PAUSE_SECS = 0.04;
/** Longer than a link is cut. */
const LEASE_SECS = '60';
const READY_MS = 15_000;
/** To tell what is late from what is lost. */
const PATIENCE_MS = 180_000;

const log = pino({ level: 'silent' });
let postgres: OwnPostgres;
beforeAll(async () => {
  postgres = await startOwnPostgres();
});
afterAll(() => postgres[Symbol.asyncDispose]());

/** Prints the lines up to `to`, of which `from` is the first. */
const printing = (from: number, to: number) =>
  `i=${from}; while [ $i -le ${to} ]; do seq $i $((i + ${BURST - 1})); i=$((i + ${BURST})); sleep ${PAUSE_SECS}; done`;

test('a million lines reach fifty viewers whole, whatever is killed and cut', {
  timeout: 900_000,
}, async () => {
  await postgres.renew();
  await using stack = new AsyncDisposableStack();
  const link = async () => stack.use(await TcpProxy.start(postgres.url));
  const links = {
    worker: [await link()],
    scheduler: [await link()],
    api: [await link(), await link()],
    reaper: [],
  };
  const pool = createPool({ url: postgres.url, name: 'test', max: 3, log });
  stack.defer(() => pool.end());
  const cluster = stack.use(
    await startCluster(postgres, {
      counts: { api: 2 },
      env: { LEASE_TTL_SECS: LEASE_SECS },
      databaseOf: (name, index) => links[name][index]?.url,
    }),
  );
  await waitFor('all to be ready', () => areReady(cluster));
  const before = await tracesOf(cluster, pool);

  const gate = newGate();
  const held = LINES - BURST;
  const command = `${printing(1, held)}; ${gate.wait}; ${printing(held + 1, LINES)}`;
  const run = await cluster.submit({ name: 'storm', jobs: { print: { run: command } } });
  const watched = { urls: cluster.urls, run, job: 'print' };
  const transcript = new Transcript();
  const stop = new AbortController();
  const viewers = watchLog(watched, transcript, stop);
  const terminals = cluster.urls.map((url) => stack.use(followInTerminal(url, watched)));
  try {
    // Whoever cannot reach the api at the start is told so.
    await waitFor('terminals to show it', () => terminals.every(({ shown }) => shown.lines > 0));
    const strike = (fault: Fault, by = links.worker[0]) => strikeOn(fault, { cluster, pool, link: by });
    const [first, second] = links.api;
    await strike(killLoop('api'));
    await strike(restart);
    await strike(slowLink);
    await strike(resetLink, first);
    await strike(lostAnswers);
    await strike(backendKills);
    await strike(killLoop('scheduler'));
    await strike(cutLink, second);
    await strike(kill);
    await strike(blackHoledListen, first);
    await strike(slowLink, second);
    await strike(cutLink);
    await strike(killLoop('reaper'));
    await strike(lostAnswers, second);
    await strike(slowLink, links.scheduler[0]);
    for (const index of cluster.urls.keys()) await cluster.restart('api', index);
    await gate.open();
    expect(await cluster.ended(run, PATIENCE_MS)).toMatchObject({
      status: 'completed',
      jobs: [{ attempt: 0 }],
    });
    const ended = performance.now();
    await allTold(viewers);
    console.log(
      `${viewers.length} viewers came ${visits(viewers)} times, and were told within ${since(ended)} s`,
    );
    for (const { done, shown } of terminals) {
      expect({ code: await done, said: shown.said }).toMatchObject({ code: 0 });
      expect(shown).toMatchObject({ lines: LINES, wrong: null });
    }
    await expectWhole(cluster, pool, watched, viewers, transcript, [LINES]);
    await waitFor('all to be ready', () => areReady(cluster), READY_MS);
    await waitFor('nothing of them to be left', async () => {
      const more = moreThan(before, await tracesOf(cluster, pool));
      if (more.length > 0) throw new Error(more.join('; '));
      return true;
    });
  } catch (error) {
    const seen = viewers.map(({ name, visits: times, reader: { after, chunks, faults, end } }) => {
      return { name, times, after, chunks, faults, end };
    });
    const folder = await keepLogs(cluster, { viewers: seen, terminals: terminals.map(({ shown }) => shown) });
    console.error(`its logs are in ${folder}; not told: ${notTold(viewers).join(', ')}`);
    throw error;
  } finally {
    stop.abort();
  }
});

function strikeOn(
  fault: Fault,
  { cluster, pool, link }: { cluster: Cluster; pool: Pool; link: TcpProxy | undefined },
) {
  if (!link) throw new Error('there is no such link');
  console.log(`${new Date().toISOString()} ${fault.name}`);
  return fault.strike({ cluster, postgres, pool, link }).then(() => sleep(1_000));
}

const notTold = (viewers: readonly LogViewer[]) =>
  viewers.filter(({ reader }) => !reader.end).map(({ name, reader }) => `${name} is at ${reader.after}`);

async function allTold(viewers: readonly LogViewer[]): Promise<void> {
  await waitFor('all viewers to be told', () => notTold(viewers).length === 0, PATIENCE_MS);
  await Promise.all(viewers.map(({ ended }) => ended));
}

const visits = (viewers: readonly LogViewer[]) => viewers.reduce((sum, viewer) => sum + viewer.visits, 0);
const since = (at: number) => ((performance.now() - at) / 1_000).toFixed(1);

async function areReady({ of }: Cluster): Promise<boolean> {
  const all = [...of('api'), ...of('scheduler'), ...of('reaper'), ...of('worker')];
  const reasons = (await Promise.all(all.map(reasonsOf))).flat();
  if (reasons.length > 0) throw new Error(reasons.join('; '));
  return true;
}

test('of a worker that is killed each attempt has the lines from 1 on, and viewers see both', async () => {
  await postgres.renew();
  await using stack = new AsyncDisposableStack();
  const pool = createPool({ url: postgres.url, name: 'test', max: 3, log });
  stack.defer(() => pool.end());
  const cluster = stack.use(await startCluster(postgres, { counts: { api: 2 } }));
  const lines = LINES / 20;
  const run = await cluster.submit({
    name: 'killed',
    jobs: { print: { run: printing(1, lines), retries: 1 } },
  });
  const watched = { urls: cluster.urls, run, job: 'print' };
  const transcript = new Transcript();
  const stop = new AbortController();
  stack.defer(() => stop.abort());
  const viewers = watchLog(watched, transcript, { signal: stop.signal, isHurried: true });
  const terminal = stack.use(followInTerminal(cluster.url, watched));
  await waitFor('some of it', () => transcript.chunks(0).length > 20);
  await killWorker(cluster, 0, inject('runFolder'));
  await cluster.ended(run, PATIENCE_MS);
  await allTold(viewers);
  const [lost, whole] = await cluster.attempts(run, 'print');
  expect([lost?.outcome, whole?.outcome]).toEqual(['lost', 'completed']);
  const printed = lost?.log.lines ?? 0;
  expect(printed).toBeGreaterThan(0);
  expect(printed).toBeLessThan(lines);
  await expectWhole(cluster, pool, watched, viewers, transcript, [printed, lines]);
  expect({ code: await terminal.done, said: terminal.shown.said }).toMatchObject({ code: 0 });
  expect(terminal.shown).toMatchObject({ lines: printed + lines, wrong: `line ${printed + 1} is "1"` });
  expect(terminal.shown.said).toContain('attempt 1:');
});
