// Notifications stop on the way while everything else goes on, as behind a pooler: all that runs goes on by looking.
import { cancelRun } from '@wfg/shared/contract/routes/runs';
import { expect, test } from 'vitest';
import { startCluster } from '../support/cluster.ts';
import { hears, isDeaf } from '../support/deaf.ts';
import { openStream } from '../support/event-stream.ts';
import { testDatabase } from '../support/postgres.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';
import { waitFor } from '../support/wait-for.ts';
import { jobWhen, reasonsOf } from '../support/worker.ts';

/** Each is claimed, ends and releases the next. */
const JOBS = 20;
/** Twice 2 s for each of them, the longest that a hop may take: whoever looked only now and then would take longer. */
const LIMIT_MS = JOBS * 4_000;

test.skipIf(isDeaf)(
  'without notifications runs, logs and cancels go on, within bounds, and bells are heard again after',
  async () => {
    await using database = await testDatabase();
    await using proxy = await TcpProxy.start(database.url);
    await using cluster = await startCluster({ url: proxy.url });
    const listening = [...cluster.of('api'), ...cluster.of('scheduler'), ...cluster.of('worker')];
    await Promise.all(listening.map(hears));
    proxy.mute();
    const areDeaf = async () => {
      const reasons = await Promise.all(listening.map(reasonsOf));
      return reasons.every((said) => said.some((reason) => reason.startsWith('listen: deaf')));
    };
    await waitFor('all to be deaf', areDeaf, LIMIT_MS);

    const names = Array.from({ length: JOBS }, (_, n) => `j${n}`);
    const chain = names.map((name, n) => [
      name,
      { run: `echo ${name}`, ...(n > 0 && { needs: `j${n - 1}` }) },
    ]);
    const run = await cluster.submit({ name: 'chain', jobs: Object.fromEntries(chain) });
    await using stack = new AsyncDisposableStack();
    const stream = await openStream(`${cluster.url}/api/runs/${run}/jobs/j${JOBS - 1}/logs/stream`);
    stack.defer(stream.leave);
    await waitFor(
      'the last line to be shown',
      () => stream.events.some(({ event }) => event === 'log'),
      LIMIT_MS,
    );
    await waitFor('the end to be told', () => stream.events.at(-1)?.event === 'end', LIMIT_MS);
    expect(await cluster.ended(run, LIMIT_MS)).toMatchObject({ status: 'completed' });

    const long = await cluster.submit({ name: 'long', jobs: { a: { run: 'sleep 1000' } } });
    await jobWhen(database.pool, long, 'a', ({ state }) => state === 'active', LIMIT_MS);
    await cluster.wfg(cancelRun, { params: { run: long } });
    expect(await cluster.ended(long, LIMIT_MS)).toMatchObject({ status: 'cancelled' });

    proxy.unmute();
    await waitFor(
      'all to hear',
      async () => (await Promise.all(listening.map(reasonsOf))).flat().length === 0,
    );
  },
);
