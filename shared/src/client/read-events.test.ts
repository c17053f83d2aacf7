import { array, assert, asyncProperty, constantFrom, integer } from 'fast-check';
import { expect, test } from 'vitest';
import { readEvents, type SentEvent } from './read-events.ts';

/** The events of a text that comes in these pieces. */
async function read(...pieces: string[]): Promise<SentEvent[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });
  const events: SentEvent[] = [];
  for await (const event of readEvents(body)) events.push(event);
  return events;
}

test('fields make an event when an empty line ends it', async () => {
  expect(await read('event: log\nid: 0:1\ndata: {"a": 1}\n\n')).toEqual([
    { event: 'log', id: '0:1', data: '{"a": 1}' },
  ]);
  expect(await read('data:a\ndata: b\ndata\n\n')).toEqual([{ event: 'message', id: null, data: 'a\nb\n' }]);
});

test('an id is that of its event, and a comment or an unknown field is nothing', async () => {
  expect(await read(':\n\nid: 7\n\ndata: a\n\n: x\nretry: 3\n\ndata: b\n\nid\ndata: c\n\n')).toEqual([
    { event: 'message', id: null, data: 'a' },
    { event: 'message', id: null, data: 'b' },
    { event: 'message', id: '', data: 'c' },
  ]);
});

test('what is not ended does not count', async () => {
  expect(await read('data: a\n\ndata: b\n')).toEqual([{ event: 'message', id: null, data: 'a' }]);
});

test('it does not matter how the text is cut, nor how its lines end', async () => {
  const text = 'event: log\nid: 1\ndata: ä\n\n:\n\nevent: end\ndata: {}\n\n';
  const events = await read(text);
  await assert(
    asyncProperty(
      constantFrom('\n', '\r\n'),
      array(integer({ min: 0, max: text.length })),
      async (end, cuts) => {
        const sent = text.replaceAll('\n', end);
        const at = [0, ...cuts.toSorted((a, b) => a - b), sent.length];
        const pieces = at.slice(1).map((to, index) => sent.slice(at[index], to));
        expect(await read(...pieces)).toEqual(events);
      },
    ),
    { seed: 1, numRuns: 200 },
  );
});

test('an event without an end is given up', async () => {
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024).fill(97)),
  });
  await expect(readEvents(endless).next()).rejects.toThrow('does not end');
});
