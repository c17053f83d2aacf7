import { expect, test } from 'vitest';
import { readWorkflowText } from './workflow-text.ts';

const LONG = `#${'x'.repeat(70_000)}\n`;
const FILE = 'name: x\njobs: { a: { uses: t, with: { n: 12345678901234567890 } } }\n';

test('a long file is read as a short one is, every digit of its numbers kept', async () => {
  const [short, long] = [await readWorkflowText(FILE), await readWorkflowText(LONG + FILE)];
  expect(JSON.stringify(long)).toBe(JSON.stringify(short));
  expect(JSON.stringify(long)).toContain('12345678901234567890');
});

test.each([
  ['name: x\njobs: { a: { run: b, needs: [c] } }\n', 'invalid_workflow'],
  ['name: x\nname: y\n', 'malformed_yaml'],
])('what is wrong with it is told with its place: %j', async (text, code) => {
  const error = await readWorkflowText(LONG + text).catch((err: unknown) => err);
  expect(error).toMatchObject({
    name: 'WfgError',
    code,
    message: expect.stringMatching(/line \d, column \d/),
  });
});

test('while a long file is read, other things go on', async () => {
  const jobs = Array.from({ length: 3_000 }, (_, n) => `  j${n}: { run: 'true' }\n`).join('');
  let turns = 0;
  const turning = setInterval(() => turns++, 1);
  await readWorkflowText(`name: x\njobs:\n${jobs}`);
  clearInterval(turning);
  expect(turns).toBeGreaterThan(10);
});
