// Which steps run, and which of them decides how the job ended.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { quiet, run } from './command.fixture.ts';
import { createSpawner, type Spawner } from './spawner.ts';

let spawner: Spawner;
beforeAll(() => void (spawner = createSpawner({ log: quiet })));
afterAll(() => spawner[Symbol.asyncDispose]());

const turn = (label: string, text: string, on_success: boolean, on_failure: boolean) => ({
  label,
  run: text,
  env: {},
  timeout: null,
  on_success,
  on_failure,
});
const step = (label: string, text: string) => turn(label, text, true, false);
const onFailure = (label: string, text: string) => turn(label, text, false, true);
const always = (label: string, text: string) => turn(label, text, true, true);

test('without a failure those for failures are left out', async () => {
  const steps = [step('a', 'true'), onFailure('no', 'true'), always('b', 'true'), step('c', 'true')];
  const ran = await run(spawner, { steps });
  expect(ran).toMatchObject({ outcome: 'completed', exitCode: 0, error: null });
  expect(ran.stdout).toBe('=== a ===\n=== b ===\n=== c ===\n');
});

test('only those for failures leave a job completed that did nothing', async () => {
  expect(await run(spawner, { steps: [onFailure('no', 'false')] })).toMatchObject({ outcome: 'completed' });
});

test('after a failure those for failures run, also after one of these failed, and the first failure counts', async () => {
  const steps = [
    step('a', 'echo first; exit 3'),
    step('no', 'true'),
    onFailure('b', 'echo second; exit 4'),
    always('c', 'echo "c=1" >> $WFG_OUTPUT'),
  ];
  const ran = await run(spawner, { steps });
  expect(ran).toMatchObject({ outcome: 'failed', exitCode: 3, outputs: { c: '1' } });
  expect(ran.error).toBe('exit code 3: first\n');
  expect(ran.stdout).toBe('=== a ===\nfirst\n=== b ===\nsecond\n=== c ===\n');
});

test('a step that takes longer than its own limit has failed like any other', async () => {
  const steps = [
    { ...step('a', 'sleep 60'), timeout: 1 },
    step('no', 'true'),
    onFailure('b', 'sleep 1.2; echo cleaned'),
  ];
  const ran = await run(spawner, { steps });
  expect(ran).toMatchObject({ outcome: 'timed_out', error: 'timeout after 1s: ' });
  expect(ran.stdout).toBe('=== a ===\n=== b ===\ncleaned\n');
});

test('after the limit of the job nothing more runs', async () => {
  const steps = [step('a', 'sleep 60'), always('no', 'true')];
  const ran = await run(spawner, { steps, timeoutSecs: 1 });
  expect(ran).toMatchObject({ outcome: 'timed_out', stdout: '=== a ===\n' });
});

test('after a cancel nothing more runs, and it counts more than what failed before', async () => {
  const abort = new AbortController();
  const steps = [step('a', 'exit 3'), onFailure('b', 'echo ready; sleep 60'), always('no', 'true')];
  let seen = '';
  const write = ({ data }: { data: string }) => {
    seen += data;
    if (seen.includes('ready')) abort.abort('cancelled by alice');
  };
  const ran = await run(spawner, { steps }, { signal: abort.signal, log: { write } });
  expect(ran).toMatchObject({ outcome: 'killed', error: 'signal SIGTERM: ready\n' });
  expect(seen).toBe('=== a ===\n=== b ===\nready\n[wfg] cancelled by alice: SIGTERM sent\n');
});
