import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newMark, processesWith } from './command.fixture.ts';
import { killTrees } from './kill-tree.ts';
import { MARK } from './spawner/protocol.ts';

/** A shell that leads a group, and has said a word. */
async function startShell(
  text: string,
  env: NodeJS.ProcessEnv,
): Promise<{ pid: number; shell: ChildProcess; exited: Promise<unknown> }> {
  const shell = spawn('/bin/sh', ['-c', text], { detached: true, env, stdio: ['ignore', 'pipe', 'ignore'] });
  // Asked for at once: it may be over by the time it has been heard.
  const exited = once(shell, 'exit');
  await once(shell.stdout, 'data');
  const { pid } = shell;
  if (pid === undefined) throw new Error('no shell');
  onTestFinished(
    () => void (shell.exitCode === null && shell.signalCode === null && process.kill(-pid, 'SIGKILL')),
  );
  return { pid, shell, exited };
}

test('each process gets one SIGTERM', async () => {
  const mark = newMark().value;
  const count = `trap 'n=$((n+1)); echo $n' TERM; (setsid sleep 60 &); echo up; while :; do sleep 0.05; done`;
  const { pid, shell } = await startShell(count, { [MARK]: mark });
  let seen = '';
  shell.stdout?.on('data', (text) => (seen += String(text)));
  await killTrees([{ pid, ended: false, mark }], { graceMs: 400 });
  expect(seen).toBe('1\n');
  expect(processesWith(mark)).toEqual([]);
});

test('a pid that is used again, and what another attempt started, are left alone', async () => {
  const mark = newMark().value;
  const { pid } = await startShell('echo up; sleep 60', {});
  const other = await startShell('echo up; sleep 60', { [MARK]: 'other' });
  await killTrees([{ pid, ended: true, mark }], { graceMs: 0 });
  await killTrees([{ pid: null, ended: true, mark: 'oth' }], { graceMs: 0 });
  expect(process.kill(pid, 0) && process.kill(other.pid, 0)).toBe(true);
});

test('what is left of a group is found without its leader and its environment', async () => {
  // An argument of its own: other runs of this test may be under way on the machine.
  const seconds = `64.${process.pid}`;
  const { pid, exited } = await startShell(`env -i sleep ${seconds} & echo up`, {});
  await exited;
  expect(await killTrees([{ pid, ended: true, mark: newMark().value }], { graceMs: 0 })).toEqual([]);
  expect(processesWith(`sleep\0${seconds}`)).toEqual([]);
});

/** Of a session of its own, without the mark, deaf to SIGTERM, and alive as long as its argument is. */
const stranger = (seconds: string) =>
  `env -i setsid sh -c 'trap "" TERM; sleep ${seconds}; sleep ${seconds}'`;

test.for([
  ['whose parent ends by SIGTERM', (seconds: string) => `${stranger(seconds)} & echo up; sleep 60`],
  ['whose parent is killed', (seconds: string) => `trap "" TERM; ${stranger(seconds)} & echo up; sleep 60`],
  [
    'that is born again and again',
    (seconds: string) => `trap "" TERM; echo up; while :; do ${stranger(seconds)} & sleep 0.01; done`,
  ],
] as const)('a stranger is killed %s', async ([, family]) => {
  const seconds = `65.${process.pid}`;
  const mark = newMark().value;
  const { pid, exited } = await startShell(family(seconds), { [MARK]: mark, PATH: process.env.PATH });
  await vi.waitFor(() => expect(processesWith(`sleep\0${seconds}`)).not.toEqual([]));
  expect(await killTrees([{ pid, ended: false, mark }], { graceMs: 100 })).toEqual([]);
  await exited;
  expect(processesWith(seconds)).toEqual([]);
});
