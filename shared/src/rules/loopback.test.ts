import { expect, test } from 'vitest';
import { isLoopback } from './loopback.ts';

test.each(['localhost', 'LOCALHOST', 'api.localhost', '127.0.0.1', '127.9.9.9', '[::1]', '::1'])(
  '%s is this machine',
  (name) => expect(isLoopback(name)).toBe(true),
);

test.each(['0.0.0.0', '::', '10.0.0.1', 'localhost.example', '127.0.0.1.example', 'evillocalhost', ''])(
  '%s is not',
  (name) => expect(isLoopback(name)).toBe(false),
);
