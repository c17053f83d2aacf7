// For tests: a process that starts commands like a worker, to be killed like one. Arguments: shell commands.

import { randomUUID } from 'node:crypto';
import { quiet } from './command.fixture.ts';
import { createSpawner } from './spawner.ts';

const spawner = createSpawner({ log: quiet });
for (const text of process.argv.slice(2)) {
  await spawner.start({
    file: '/bin/sh',
    args: ['-c', text],
    cwd: '/',
    env: { PATH: process.env.PATH ?? '', TEST_MARK: process.env.TEST_MARK ?? '' },
    mark: randomUUID(),
  });
}
process.stdout.write(`${spawner.baseDir()}\n`);
