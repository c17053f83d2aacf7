import { expect, test } from 'vitest';
import { turns } from './turns.ts';

const STAYS = new AbortController().signal;

/** Work that is done when the test says so. */
function hold() {
  const { promise, resolve } = Promise.withResolvers<Response>();
  return { work: () => promise, done: () => resolve(new Response('done')) };
}

test('so many are worked on at once, so many wait, and the next is sent away at once', async () => {
  const takeTurn = turns({ atOnce: 2, waiting: 1 });
  const begun: number[] = [];
  const held = [hold(), hold(), hold()];
  const answers = held.map(({ work }, index) =>
    takeTurn(STAYS, () => {
      begun.push(index);
      return work();
    }),
  );
  const refused = takeTurn(STAYS, async () => new Response('not so'));
  await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
  expect(begun).toEqual([0, 1]);
  held[1]?.done();
  await answers[1];
  await expect.poll(() => begun).toEqual([0, 1, 2]);
  for (const { done } of held) done();
  expect(await Promise.all(answers.map(async (answer) => (await answer).text()))).toEqual([
    'done',
    'done',
    'done',
  ]);
  expect((await takeTurn(STAYS, async () => new Response('again'))).status).toBe(200);
});

test('what has been answered before its turn is not begun', async () => {
  const takeTurn = turns({ atOnce: 1, waiting: 2 });
  const first = hold();
  const gone = new AbortController();
  const answer = takeTurn(STAYS, first.work);
  let begun = false;
  const late = takeTurn(gone.signal, async () => {
    begun = true;
    return new Response();
  });
  gone.abort();
  first.done();
  await answer;
  await expect(late).rejects.toMatchObject({ code: 'unavailable' });
  expect(begun).toBe(false);
});

test('what fails gives its turn away', async () => {
  const takeTurn = turns({ atOnce: 1, waiting: 1 });
  const failing = takeTurn(STAYS, () => Promise.reject(new Error('broken')));
  const next = takeTurn(STAYS, async () => new Response('fine'));
  await expect(failing).rejects.toThrow('broken');
  expect(await (await next).text()).toBe('fine');
});
