// Whoever follows in a terminal goes on by himself after any interruption: each line is there once, in order, and the end.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Cluster, startCluster } from '../support/cluster.ts';
import { newGate } from '../support/gate.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/own-postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { type Follower, follow } from '../support/follower.ts';

/** A server waits 30 s for who does not answer, and so does who follows. */
const SILENCE_MS = 60_000;

let postgres: OwnPostgres;
let cluster: Cluster;
/** Between those who follow and the api. */
let link: TcpProxy;

beforeAll(async () => {
  postgres = await startOwnPostgres();
  await postgres.renew();
  // Longer than PostgreSQL is away.
  cluster = await startCluster(postgres, { env: { LEASE_TTL_SECS: '60' } });
  link = await TcpProxy.start(cluster.url);
});
afterAll(async () => {
  await link[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
});

interface Followed {
  /** `wfg run`. */
  run: Follower;
  /** `wfg logs -f` of its job. */
  log: Follower;
  /** Resolves when both show lines that were printed after it was called. */
  goOn: (limitMs?: number) => Promise<void>;
}

interface Told {
  /** Exit codes of both. */
  codes: unknown[];
  /** The lines that are stored. */
  whole: string[];
  /** What each showed. */
  log: string[];
  run: string[];
}

/** A job that counts until the gate opens is followed through the interruption, and then to its end. */
async function followThrough(interrupt: (followed: Followed) => Promise<void>): Promise<Told> {
  const gate = newGate();
  const file = join(inject('runFolder'), 'counts.json');
  const count = `i=0; until test -e '${gate.path}'; do i=$((i+1)); echo $i; sleep 0.02; done; echo end`;
  await writeFile(file, JSON.stringify({ name: 'counts', jobs: { a: { run: count } } }));
  using run = follow(link.url, 'run', file);
  const id = await waitFor('the run', () => /^run (\S+) of counts/.exec(run.lines[0] ?? '')?.[1]);
  using log = follow(link.url, 'logs', id, 'a', '-f');
  const printed = () => run.lines.filter((line) => line.startsWith('a | '));
  const stored = async () => {
    const chunks = await cluster.logs(id, 'a');
    return chunks
      .map(({ data }) => data)
      .join('')
      .split('\n')
      .slice(0, -1);
  };
  const goOn = async (limitMs?: number) => {
    const { length } = await waitFor('the log', stored);
    await waitFor(
      'both to show what came later',
      () => Math.min(printed().length, log.lines.length) > length,
      limitMs,
    );
  };
  await goOn();
  await interrupt({ run, log, goOn });
  await goOn();
  await gate.open();
  const codes = await Promise.all([run.done, log.done]);
  return { codes, whole: await stored(), log: log.lines, run: run.lines };
}

const lost = ({ said }: Follower) =>
  said.filter((line) => line.startsWith('wfg: lost the connection')).length;

const WAYS: Record<string, (followed: Followed) => Promise<void>> = {
  'the api is restarted': () => cluster.restart('api'),
  'the api is killed': () => cluster.kill('api'),
  async 'the link is cut three times'({ goOn }) {
    for (let cuts = 0; cuts < 3; cuts++) {
      link.cut();
      await goOn();
    }
  },
  async 'the api cannot be reached for a while'({ run, log }) {
    await link.close();
    await waitFor('both to say so', () => lost(run) > 0 && lost(log) > 0);
    await link.open();
  },
  'PostgreSQL is restarted': () => postgres.restart(2_000),
  // As when a laptop sleeps, and when a router forgets the connection.
  async 'one is stopped for long, and to the other nothing comes'({ run, log, goOn }) {
    link.forget();
    run.signal('SIGSTOP');
    await waitFor('the other to come back', () => log.said.includes('wfg: connected again'), SILENCE_MS);
    run.signal('SIGCONT');
    await goOn(SILENCE_MS);
    expect(lost(run)).toBe(1);
  },
};

test.for(Object.entries(WAYS))('%s', async ([, interrupt]) => {
  const { codes, whole, log, run } = await followThrough(interrupt);
  expect(codes).toEqual([0, 0]);
  expect(whole).toEqual([...whole.slice(1).map((_, index) => String(index + 1)), 'end']);
  expect(log).toEqual(whole);
  expect(run.filter((line) => line.startsWith('a | '))).toEqual(whole.map((line) => `a | ${line}`));
  expect(run.at(-1)).toMatch(/^run \S+ completed in [\d.]+ s: 1 completed$/);
});

test('the last word is there also when the api is away at the end', async () => {
  const gate = newGate();
  const file = join(inject('runFolder'), 'ends.json');
  await writeFile(file, JSON.stringify({ name: 'ends', jobs: { a: { run: `echo on; ${gate.wait}` } } }));
  using run = follow(link.url, 'run', file);
  await waitFor('the line', () => run.lines.includes('a | on'));
  await link.close();
  await gate.open();
  const id = /^run (\S+) /.exec(run.lines[0] ?? '')?.[1] ?? '';
  await cluster.ended(id);
  await link.open();
  // Should it ask anything else than the connection by which it follows, it gets no answer.
  void link.cutAt('GET /api/runs/');
  expect(await run.done).toBe(0);
  expect(run.lines.at(-1)).toMatch(/^run \S+ completed in /);
});
