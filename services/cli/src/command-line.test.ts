import { expect, test } from 'vitest';
import { readCommandLine } from './command-line.ts';

test.each([
  ['', 'help', []],
  ['run f --json', 'run', ['f', '--json']],
  ['--url http://a run f', 'run', ['--url', 'http://a', 'f']],
  ['--json --url=http://a runs', 'runs', ['--json', '--url=http://a']],
  ['--token t --url http://a run f', 'run', ['--token', 't', '--url', 'http://a', 'f']],
  ['--token=t=t run f', 'run', ['--token=t=t', 'f']],
  ['--json', 'help', []],
  ['--url', 'help', []],
  ['--help run', '--help', ['run']],
  ['--env A=b run f', '--env', ['A=b', 'run', 'f']],
])('wfg %s', (line, name, args) => {
  expect(readCommandLine(line.split(' ').filter(Boolean))).toEqual({ name, args });
});
