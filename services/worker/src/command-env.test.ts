import { describe, expect, test } from 'vitest';
import { type CommandEnv, commandEnv, findBadVariable } from './command-env.ts';

const JOB: CommandEnv = {
  workerEnv: { PATH: '/bin', LANG: 'C.UTF-8', TZ: 'UTC', DATABASE_URL: 'postgres://secret', HOME: '/root' },
  jobEnv: {},
  home: '/job/home',
  outputFile: '/job/output',
  upstreamFile: null,
  runId: 'run',
  workflowId: 'ci',
  jobId: 'build',
  attempt: 3,
  try: 1,
  workerId: 'w1',
  upstream: {},
};

test('holds what the contract names and nothing of the worker', () => {
  expect(commandEnv(JOB)).toEqual({
    PATH: '/bin',
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    HOME: '/job/home',
    TMPDIR: '/job/home',
    CI: 'true',
    WFG_WORKFLOW_ID: 'ci',
    WFG_RUN_ID: 'run',
    WFG_JOB_ID: 'build',
    WFG_ATTEMPT: '3',
    WFG_TRY: '1',
    WFG_WORKER_ID: 'w1',
    WFG_OUTPUT: '/job/output',
  });
});

test('the job overrides what is common, but not what says who it is', () => {
  const env = commandEnv({
    ...JOB,
    workerEnv: {},
    jobEnv: { HOME: '/h', CI: 'no', WFG_RUN_ID: 'other', X: 'y' },
  });
  expect(env).toMatchObject({ HOME: '/h', CI: 'no', WFG_RUN_ID: 'run', X: 'y' });
  expect(env.PATH).toContain('/usr/bin');
  expect(env).not.toHaveProperty('LANG');
});

function outputsOf(upstream: CommandEnv['upstream'], jobEnv = {}) {
  const env = commandEnv({ ...JOB, jobEnv, upstreamFile: '/job/upstream', upstream });
  expect(env.WFG_UPSTREAM).toBe('/job/upstream');
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('WFG_OUT_')));
}

describe('upstream outputs', () => {
  test('are named in upper case, other characters replaced', () => {
    expect(outputsOf({ 'unit-tests': { 'cov.é%': '93' }, b: {} })).toEqual({
      WFG_OUT_UNIT_TESTS_COV___: '93',
    });
  });

  test('are left out where names collide, with each other or with the job', () => {
    const upstream = { 'a-b': { c: '1' }, a: { b_c: '2', d: '3', e: '4' } };
    expect(outputsOf(upstream, { WFG_OUT_A_E: 'mine' })).toEqual({ WFG_OUT_A_D: '3', WFG_OUT_A_E: 'mine' });
  });

  test('cost no time that grows with the square of their number', () => {
    const same = Array.from({ length: 300_000 }, (_, index) => [String.fromCodePoint(0x10000 + index), 'v']);
    expect(outputsOf({ a: Object.fromEntries(same), b: { c: '1' } })).toEqual({ WFG_OUT_B_C: '1' });
  });

  test('are left out when long, and from 512 KiB on', () => {
    const long = 'é'.repeat(16_384);
    const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index + 10}`, long]));
    expect(outputsOf({ a: { fits: long, over: `${long}x` } })).toEqual({ WFG_OUT_A_FITS: long });
    expect(Object.keys(outputsOf({ a: many, b: { small: '1' } }))).toHaveLength(15);
  });
});

test.each([
  ['BIG', 'x'.repeat(131_072 - 'BIG'.length - 2), null],
  ['BIG', 'x'.repeat(131_072 - 'BIG'.length - 1), 'env BIG is longer than 128 KiB: pass long values by file'],
  ['NUL', 'a\0b', 'env NUL holds a NUL character: pass such data by file'],
  ['A=B', '', 'env "A=B" is not a name: choose one without = and NUL'],
  ['', '', 'env "" is not a name: choose one without = and NUL'],
])('%s: what no process can be started with is named', (name, value, expected) => {
  expect(findBadVariable({ OK: '1', [name]: value })).toBe(expected);
});
