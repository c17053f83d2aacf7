import { jobOf, RUN_ID, runOf } from '@wfg/shared/contract/run.fixture';
import { expect, test } from 'vitest';
import { jsonView, textView } from './run-view.ts';

const ESC = String.fromCharCode(27);
const ATTACK = `exit ${ESC}]52;c;aGk=${String.fromCharCode(7)}${ESC}[2J\rfaked`;
const SHOWN = 'exit ␛]52;c;aGk=␇␛[2J faked';
const log = {
  op: 'log',
  id: 'a',
  attempt: 0,
  sequence: 0,
  line: 1,
  stream: 'stdout',
  timestamp_ms: 0,
  data: `${ESC}[31mred${ESC}[2J\n`,
} as const;
const failed = {
  type: 'failed',
  workflow_id: null,
  run_id: RUN_ID,
  job_id: 'build',
  attempt: 0,
  rev: 2,
  at: '2026-11-30T10:00:00.000Z',
  error: ATTACK,
  retryable: false,
  retry_at: null,
  job: jobOf({ state: 'failed', error: ATTACK }),
} as const;

function shown(isTerminal: boolean) {
  let text = '';
  const write = (more: string) => {
    text += more;
  };
  const view = textView({ write, isTerminal });
  view.begin(runOf({ name: ATTACK }), 'page');
  view.event(failed);
  view.log('build', log);
  return text;
}

test('nothing that a job or a workflow says takes the terminal over', () => {
  const text = shown(true);
  expect(text).toContain(`of ${SHOWN}`);
  expect(text).toContain(`failed: ${SHOWN}`);
  expect(text).toContain(`| ${ESC}[31mred␛[2J${ESC}[0m\n`);
});

test('elsewhere a log is what was printed, and what is said of it is plain', () => {
  const text = shown(false);
  expect(text).toContain(`| ${ESC}[31mred${ESC}[2J\n`);
  expect(text).toContain(`failed: ${SHOWN}`);
});

test('JSON holds all of it, and no control character', () => {
  const lines: string[] = [];
  const view = jsonView((line) => lines.push(line));
  view.event(failed);
  view.log('build', { ...log, data: String.fromCharCode(0x9b) });
  expect(lines.join('').replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { error: ATTACK },
    { type: 'log', data: '\u009b' },
  ]);
});
