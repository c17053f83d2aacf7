import { expect, test } from 'vitest';
import { readWorkflow } from './workflow-body.ts';

const FILE = `
name: ci
on: push
env: { A: file, B: file }
jobs:
  build: { run: make }
`;

test('a file is sent as it stands', () => {
  expect(readWorkflow('ci.yml', FILE, [])).toEqual({
    name: 'ci',
    on: 'push',
    env: { A: 'file', B: 'file' },
    jobs: { build: { run: 'make' } },
  });
});

test('--env replaces and adds, and a value may hold anything', () => {
  expect(readWorkflow('ci.yml', FILE, ['B=x=y\nz', 'C='])).toMatchObject({
    env: { A: 'file', B: 'x=y\nz', C: '' },
  });
  expect(readWorkflow('a.json', '{"name":"a","jobs":{"a":{"run":"true"}}}', ['C=1'])).toMatchObject({
    env: { C: '1' },
  });
});

test.each(['A', '=x', 'A B=x', '1A=x'])('--env %s is refused', (override) => {
  expect(() => readWorkflow('ci.yml', FILE, [override])).toThrow('--env takes NAME=VALUE');
});

test('each fault is on a line with its place', () => {
  const text = 'name: x\njobs:\n  a: { run: "" }\n  b: { run: hi, needs: [c] }\n';
  expect(() => readWorkflow('x.yml', text, [])).toThrow(
    /^x\.yml: line 3, column 13: jobs\.a\.run: .*\nx\.yml: line 4, column 24: jobs\.b\.needs: .*$/,
  );
  expect(() => readWorkflow('x.yml', 'name: "x', [])).toThrow(/^x\.yml: YAML parse error: line 1/);
});
