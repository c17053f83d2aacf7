// What an earlier version has stored must still be read.
import { expect, test } from 'vitest';
import { Definition } from './definition.ts';

test('a definition as version 0.1 stored it is read, with defaults for what came later', () => {
  const job = {
    id: 'a',
    name: 'A',
    needs: [],
    run: null,
    steps: [{ label: 'One', run: 'echo 1', env: { B: '2' }, timeout: null }],
    env: { A: '1' },
    timeout: 5,
    labels: ['gpu'],
    max_retries: 2,
    backoff: 'None',
    priority: 3,
    metadata: { icon: 'x' },
    ports: [],
    children: null,
    collapsed: false,
  };
  const stored = JSON.stringify({ name: 'n', trigger: 'on: push', env: { C: '3' }, jobs: [job] });
  expect(Definition.parse(JSON.parse(stored))).toEqual({
    name: 'n',
    trigger: 'on: push',
    schedules: [],
    env: { C: '3' },
    timeout: null,
    jobs: [
      {
        ...job,
        steps: [{ label: 'One', run: 'echo 1', env: { B: '2' }, timeout: null, if: null }],
        uses: null,
        with: null,
        condition: null,
        tolerates: 'nothing',
        mask: [],
        not_on: [],
        expires_in: null,
      },
    ],
  });
});
