import { expect, test } from 'vitest';
import { UnreachableError, WfgApiError } from './errors.ts';
import { type Followed, followEvents } from './follow-events.ts';

const refusal = (status: number) =>
  new WfgApiError('GET /x', { status, statusText: '', body: '', passes: false });

/** A stream that brings this, and breaks unless it is to end. */
function stream(text: string, breaks = true): Response {
  return new Response(
    new ReadableStream({
      start(controller) {
        if (text) controller.enqueue(new TextEncoder().encode(text));
      },
      pull: (controller) => (breaks ? controller.error(new Error('broken')) : controller.close()),
    }),
  );
}

const event = (id: number) => `id: ${id}\ndata: ${id}\n\n`;
const END = 'event: end\ndata: {}\n\n';

/** Follows what each connection in turn brings; what was heard, and behind what each was opened. */
async function follow(connections: (Response | Error)[], settings: Partial<Followed> = {}) {
  const asked: (string | null)[] = [];
  const heard: string[] = [];
  const open = async (last: string | null) => {
    asked.push(last);
    const next = connections.shift();
    if (next instanceof Response) return next;
    throw next ?? refusal(404);
  };
  let failure: unknown;
  try {
    for await (const { event: name, id } of followEvents({ open, ...settings })) heard.push(`${name} ${id}`);
  } catch (err) {
    failure = err;
  }
  return { asked, heard, failure };
}

test('a stream is over when its end has come, not when it breaks or closes', async () => {
  const found = await follow([
    stream(event(1) + event(2)),
    stream('', false),
    new UnreachableError('GET /x', 'away'),
    refusal(503),
    stream(event(3) + END),
  ]);
  expect(found).toEqual({
    asked: [null, '2', '2', '2', '2'],
    heard: ['message 1', 'message 2', 'message 3', 'end null'],
    failure: undefined,
  });
});

test('what is refused for good is not asked again', async () => {
  const { asked, failure } = await follow([stream(event(1)), refusal(404)]);
  expect([asked, failure]).toEqual([[null, '1'], refusal(404)]);
});

test('a server that is away at the beginning, or too long, is not waited for', async () => {
  const away = new UnreachableError('GET /x', 'away');
  expect(await follow([away])).toMatchObject({ asked: [null], failure: away });
  const { asked, failure } = await follow([stream(event(1)), ...Array.from({ length: 50 }, () => away)], {
    awayMs: 1000,
  });
  expect(failure).toBe(away);
  expect(asked.slice(0, 3)).toEqual([null, '1', '1']);
});

test('who is silent is taken for dead, and nobody waits behind a signal', async () => {
  const opened: AbortSignal[] = [];
  const leaving = new AbortController();
  const open = async (_last: string | null, signal: AbortSignal) => {
    opened.push(signal);
    if (opened.length === 2) leaving.abort(new Error('enough'));
    signal.throwIfAborted();
    const body = new ReadableStream({
      start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
    });
    return new Response(body);
  };
  const events = followEvents({ open, signal: leaving.signal, silenceMs: 20 });
  await expect(events.next()).rejects.toThrow('enough');
  expect(opened.map((signal) => signal.aborted)).toEqual([true, true]);
});
