import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { newMark, processesWith, quiet, run } from './command.fixture.ts';
import { createSpawner, type Spawner } from './spawner.ts';

let spawner: Spawner;
beforeAll(() => void (spawner = createSpawner({ log: quiet })));
afterAll(() => spawner[Symbol.asyncDispose]());

/** Starts a command, waits until it said `ready`, aborts it. */
async function abortWhenReady(text: string, graceMs: number) {
  const mark = newMark();
  const abort = new AbortController();
  const ready = Promise.withResolvers<void>();
  let seen = '';
  const write = ({ data }: { data: string }) => {
    seen += data;
    if (seen.includes('ready')) ready.resolve();
  };
  const job = { run: text, env: { [mark.name]: mark.value } };
  const running = run(spawner, job, { signal: abort.signal, patience: { graceMs }, log: { write } });
  await ready.promise;
  const startedAt = performance.now();
  abort.abort('cancelled by alice');
  const ran = await running;
  return { ran, ms: performance.now() - startedAt, left: processesWith(mark.value), seen };
}

describe('an aborted command', () => {
  test('gets SIGTERM, and is told apart, with how it ended', async () => {
    const { ran, left, seen } = await abortWhenReady(
      `trap 'echo cleaning; exit 7' TERM; echo ready; while :; do sleep 0.05; done`,
      20_000,
    );
    expect(ran).toMatchObject({ outcome: 'killed', exitCode: 7 });
    expect(ran.error).toMatch(/^exit code 7: ready\n[^]*cleaning\n$/);
    expect(seen).toMatch(/^ready\n\[wfg\] cancelled by alice: SIGTERM sent\n[^]*cleaning\n$/);
    expect(left).toEqual([]);
  });

  test('is killed when it ignores that, with its children', async () => {
    const { ran, left, seen } = await abortWhenReady(
      `trap '' TERM; sleep 60 & echo ready; sleep 60; sleep 60`,
      200,
    );
    expect(ran).toMatchObject({ outcome: 'killed', signal: 'SIGKILL', error: 'signal SIGKILL: ready\n' });
    expect(seen).toContain(' SIGTERM sent\n[wfg] still running after 0 s: SIGKILL sent\n');
    expect(left).toEqual([]);
  });

  test('takes along who left its session, or hides its environment', async () => {
    const { left } = await abortWhenReady(
      `(setsid sh -c 'trap "" TERM; sleep 61 & sleep 61' &)
       setsid env -i sleep 62 &
       (env -i sh -c 'sleep 63' &)
       echo ready; wait`,
      200,
    );
    expect(left).toEqual([]);
    expect(processesWith('sleep\x0062')).toEqual([]);
    expect(processesWith('sleep\x0063')).toEqual([]);
  });

  test('cannot outrun it by giving birth', async () => {
    const { left } = await abortWhenReady(
      `trap '' TERM; grow() { while :; do setsid sleep 60 & sleep 0.01; done; }; echo ready; grow`,
      100,
    );
    expect(left).toEqual([]);
  });

  test('is not started when it is aborted before', async () => {
    const ran = await run(spawner, 'echo no', { signal: AbortSignal.abort(new Error('lease lost')) });
    expect(ran).toMatchObject({ outcome: 'killed', error: null, exitCode: null, chunks: [] });
  });
});

describe('a timeout', () => {
  test('of the job ends it with the last of its output', async () => {
    const ran = await run(spawner, { run: 'echo begun; sleep 60', timeoutSecs: 1 });
    expect(ran).toMatchObject({
      outcome: 'timed_out',
      signal: 'SIGTERM',
      error: 'timeout after 1s: begun\n',
    });
  });

  test('of a step ends the job, but not a later step', async () => {
    const turn = { env: {}, on_success: true, on_failure: false };
    const steps = [
      { ...turn, label: 'a', run: 'true', timeout: 1 },
      { ...turn, label: 'b', run: 'sleep 1.2; echo done', timeout: null },
      { ...turn, label: 'c', run: 'sleep 60', timeout: 1 },
    ];
    const ran = await run(spawner, { steps });
    expect(ran).toMatchObject({ outcome: 'timed_out', error: 'timeout after 1s: done\n' });
  });

  test('may be longer than 24.8 days', async () => {
    expect(await run(spawner, { run: 'true', timeoutSecs: 1e9 })).toMatchObject({ outcome: 'completed' });
  });
});

describe('what a command leaves behind', () => {
  test('in its process group ends with it', async () => {
    const mark = newMark();
    const text = 'sleep 60 & sh -c "trap \'echo bye; exit\' TERM; sleep 60 & wait" & sleep 0.1; echo end';
    const ran = await run(spawner, { run: text, env: { [mark.name]: mark.value } });
    expect(ran).toMatchObject({ outcome: 'completed', stdout: 'end\nbye\n' });
    expect(processesWith(mark.value)).toEqual([]);
  });

  test('as a daemon stays, also if something else is left that ends', async () => {
    const [daemon, child] = [newMark(), newMark()];
    onTestFinished(() => processesWith(daemon.value).forEach((pid) => void process.kill(pid, 'SIGKILL')));
    const daemonize = (name: string) =>
      `setsid sh -c 'touch ${name}; sleep 60; : ${daemon.value}' > log 2>&1 &`;
    const text = `${daemonize('one')} (${daemonize('two')} sleep 60; : ${child.value}) &
      until test -e one && test -e two; do sleep 0.01; done`;
    expect(await run(spawner, text)).toMatchObject({ outcome: 'completed' });
    expect(processesWith(daemon.value)).toHaveLength(2);
    expect(processesWith(child.value)).toEqual([]);
  });

  test('as a daemon does not keep it running, even one that goes on to write', async () => {
    const mark = newMark();
    const text = `setsid sh -c 'while echo tick; do sleep 0.02; done' & echo end`;
    const startedAt = performance.now();
    const ran = await run(spawner, { run: text, env: { [mark.name]: mark.value } });
    expect(ran).toMatchObject({ outcome: 'completed', exitCode: 0 });
    expect(ran.stdout).toContain('end\n');
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    // It was left alone until nobody read what it wrote.
    await vi.waitFor(() => expect(processesWith(mark.value)).toEqual([]), 5_000);
  });

  test('as a flood does not, either', async () => {
    const ran = await run(spawner, `setsid yes flood & echo end`);
    expect(ran).toMatchObject({ outcome: 'completed' });
    expect(ran.stdout.length).toBeLessThan(20_000_000);
  });
});
