// What a handler is given, and what its end means.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson } from '@wfg/shared/contract/json';
import type { ClaimedEvent } from '@wfg/shared/queries/claim';
import { expect, test } from 'vitest';
import type { LogChunk, LogRoom } from '../log-writer.ts';
import { defineEvent, type EventContext } from '@wfg/shared/sdk/define-event';
import { StopError } from '../stop-error.ts';
import { callOf } from './call.ts';
import { executeHandler } from './execute-handler.ts';

const JOB: ClaimedEvent = {
  kind: 'event',
  run_id: '0198c0de-0000-7000-8000-000000000000',
  position: 0,
  job_id: 'main',
  workflow_id: null,
  workflow_type: 'a',
  step: null,
  payload: parseJson('{"id": 12345678901234567890}'),
  spec: null,
  required_labels: [':event a'],
  priority: 0,
  attempt: 4,
  tries: 2,
  max_attempts: 3,
  backoff: null,
  nonce: '1',
  created_at: new Date(),
  run_at: new Date(),
  started_at: new Date(),
  timeout_secs: null,
  parents: [],
  run_env: {},
};

const LOG_MAX_BYTES = 8 * 2 ** 20;

async function handle(
  handler: (context: EventContext) => unknown,
  signal = new AbortController().signal,
  stored = Promise.resolve(),
  timeoutSecs = 60,
  logRoom: LogRoom = { most: 2 * LOG_MAX_BYTES, taken: 0 },
) {
  const chunks: LogChunk[] = [];
  const log = {
    write: async (chunk: LogChunk) => {
      chunks.push(chunk);
      await stored;
    },
    close: async () => ({ chunks: 0, lines: 0, bytes: 0 }),
  };
  const settings = { patience: { graceMs: 0 }, logMaxBytes: LOG_MAX_BYTES, logRoom };
  const call = callOf(defineEvent({ type: 'a', handler }), { ...JOB, timeout_secs: timeoutSecs });
  if (!call) throw new Error('not called');
  const execute = executeHandler(1, call, settings);
  const { end } = await execute({ log, signal });
  const textOf = (stream: string) =>
    chunks.flatMap((chunk) => (chunk.stream === stream ? chunk.data : [])).join('');
  return { end, stdout: textOf('stdout'), stderr: textOf('stderr') };
}

test('a handler is told what it handles, integers with all their digits', async () => {
  const { end } = await handle(({ payload, setOutput, log: _log, signal: _signal, ...facts }) =>
    setOutput('told', JSON.stringify({ payload, ...facts })),
  );
  const facts = '"tryNumber":2,"maxAttempts":3,"workflowId":null';
  expect(end).toEqual({
    outcome: 'completed',
    outputs: {
      told: `{"payload":{"id":12345678901234567890},${facts},"runId":"${JOB.run_id}","jobId":"main","attempt":4}`,
    },
  });
});

test('its console is its log, in order and on both streams', async () => {
  const { stdout, stderr } = await handle(({ log }) => {
    log.info('one %d', 1, { two: 2 });
    log.warn('careful');
    log.debug('nul \0');
  });
  expect(stdout).toBe('one 1 { two: 2 }\nnul ␀\n');
  expect(stderr).toBe('careful\n');
});

test('all that it prints is kept, however fast, up to the limit of the log, which is said', async () => {
  const line = 'x'.repeat(1_023);
  const print = async (lines: number) => {
    const stored = Promise.withResolvers<void>();
    const handled = handle(
      ({ log }) => {
        for (let count = 1; count < lines; count++) log.info(line);
        log.info('the last line');
        setImmediate(stored.resolve);
      },
      undefined,
      stored.promise,
    );
    return (await handled).stdout;
  };
  expect(await print(6_000)).toBe(`${line}\n`.repeat(5_999).concat('the last line\n'));
  const text = await print(10_000);
  expect(text.slice(0, LOG_MAX_BYTES)).toBe(`${line}\n`.repeat(8_192));
  expect(text.slice(LOG_MAX_BYTES)).toMatch(/^\[wfg\] log limit of 8388608 bytes reached; [^\n]*\n$/);
});

test('of all handlers together no more waits for the database than there is room for, which each log says', async () => {
  const room = { most: 2 ** 20, taken: 0 };
  const line = 'x'.repeat(1_023);
  const printed = Promise.withResolvers<void>();
  const stored = Promise.withResolvers<void>();
  let mostTaken = 0;
  const print = (lines: number) => (context: EventContext) => {
    for (let count = 0; count < lines; count++) {
      context.log.info(line);
      mostTaken = Math.max(mostTaken, room.taken);
    }
    printed.resolve();
  };
  const greedy = handle(print(5_000), undefined, stored.promise, 60, room);
  await printed.promise;
  const late = handle(
    async (context) => {
      print(10)(context);
      stored.resolve();
      await greedy;
      context.log.info('there is room again');
    },
    undefined,
    stored.promise,
    60,
    room,
  );
  const { stdout, stderr } = await greedy;
  const kept = stdout.length / 1_024;
  expect(stdout).toBe(`${line}\n`.repeat(kept));
  // A chunk more, which was begun while there was room.
  expect(mostTaken).toBeGreaterThanOrEqual(2 ** 20);
  expect(mostTaken).toBeLessThanOrEqual(2 ** 20 + 65_536);
  expect(stderr).toBe(`[wfg] ${5_000 - kept} lines were not kept: too much waits for the database\n`);
  expect(await late).toMatchObject({
    stdout: 'there is room again\n',
    stderr: '[wfg] 10 lines were not kept: too much waits for the database\n',
  });
  expect(room.taken).toBe(0);
});

test('whatever it throws is its failure, at once or later, and is in its log', async () => {
  const thrown: unknown[] = [new Error('no', { cause: 'why' }), 'plain', { code: 7 }];
  for (const [index, error] of ['no: why', 'plain', '{ code: 7 }'].entries()) {
    const { end, stderr } = await handle(() => {
      throw thrown[index];
    });
    expect(end).toEqual({ outcome: 'failed', retryable: true, error });
    expect(stderr).not.toBe('');
    expect((await handle(() => Promise.reject(thrown[index]))).end).toEqual(end);
  }
});

test('what cannot be shown is a failure all the same', async () => {
  const monster = new Proxy(new Error('x'), {
    get() {
      throw new Error('do not look');
    },
  });
  const { end } = await handle(() => {
    throw monster;
  });
  expect(end).toMatchObject({ outcome: 'failed', error: 'it threw something that cannot be shown' });
});

test('an output that is no text is an error of the handler', async () => {
  const { end } = await handle(({ setOutput }) => Reflect.apply(setOutput, undefined, ['a', 1]));
  expect(end).toMatchObject({ outcome: 'failed', error: expect.stringContaining('use JSON.stringify') });
});

test('one that is stopped before it begins is not called', async () => {
  const signal = AbortSignal.abort(new StopError('cancelled'));
  const { end } = await handle(() => {
    throw new Error('called');
  }, signal);
  expect(end).toEqual({ outcome: 'stopped' });
});

test('after it was given up it prints nothing', async () => {
  const stop = new AbortController();
  const later = Promise.withResolvers<void>();
  const handled = handle(async ({ log, signal }) => {
    stop.abort(new StopError('shutdown'));
    log.info(String(signal.reason.message));
    await later.promise;
    log.info('late');
  }, stop.signal);
  const { end, stdout } = await handled;
  later.resolve();
  await new Promise(setImmediate);
  expect({ end, stdout }).toEqual({ end: { outcome: 'stopped' }, stdout: 'the worker is stopping\n' });
});

test('what it did stands, whatever comes while its log is being stored', async () => {
  const stop = new AbortController();
  const stored = Promise.withResolvers<void>();
  const handled = handle(({ log }) => log.info('done'), stop.signal, stored.promise);
  await new Promise(setImmediate);
  stop.abort(new StopError('shutdown'));
  stored.resolve();
  expect(await handled).toMatchObject({ end: { outcome: 'completed' }, stdout: 'done\n' });
});

test('a timeout may be longer than 24.8 days', async () => {
  const days400 = 400 * 86_400;
  const { end } = await handle(
    ({ signal }) => sleep(20, undefined, { signal }),
    undefined,
    undefined,
    days400,
  );
  expect(end).toMatchObject({ outcome: 'completed' });
});
