// The spawner: a lean child of the worker that starts commands and outlives the worker just long enough to kill them, and
// the worker's other children.
// Lean, since starting a process copies the page tables of the one that asks for it: node's own modules only.

import { execFile, spawn } from 'node:child_process';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { groupExists, killTrees } from '../kill-tree.ts';
import type { Tree } from '../process-table.ts';
import { removeTree } from '../remove-tree.ts';
import type { Reply, Request, StartRequest } from './protocol.ts';

const baseDir = process.argv[2] ?? '';
const trees = new Map<number, Tree>();

/** Without a reader of its own the open would wait for ever for a worker that was killed meanwhile. */
function openWriteEnd(path: string): number {
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return openSync(path, constants.O_WRONLY);
  } finally {
    closeSync(reader);
    unlinkSync(path);
  }
}

function send(reply: Reply): void {
  // A worker that is gone is noticed by the channel's end, and nobody else is told.
  process.send?.(reply, undefined, undefined, () => undefined);
}

function start({ id, file, args, cwd, env, mark, stdout, stderr }: StartRequest): void {
  const ends: number[] = [];
  const refuse = (err: unknown) => send({ op: 'refused', id, error: String(err) });
  try {
    for (const path of [stdout, stderr]) ends.push(openWriteEnd(path));
    const child = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', ...ends] });
    child.once('error', refuse);
    const { pid } = child;
    if (pid === undefined) return;
    const tree: Tree = { pid, ended: false, mark };
    trees.set(id, tree);
    child.once('exit', (code, signal) => {
      const groupLeft = groupExists(pid);
      Object.assign(tree, { pid: groupLeft ? pid : null, ended: true });
      send({ op: 'exited', id, pid, code, signal, groupLeft });
    });
    send({ op: 'done', id, pid });
  } catch (err) {
    refuse(err);
  } finally {
    for (const end of ends) closeSync(end);
  }
}

function makeFifos(id: number, paths: string[]): void {
  const child = execFile('mkfifo', ['-m', '600', ...paths], (err) => {
    send(err ? { op: 'refused', id, error: err.message } : { op: 'done', id, pid: child.pid ?? 0 });
  });
}

process.on('message', (request: Request) => {
  if (request.op === 'start') start(request);
  else if (request.op === 'fifos') makeFifos(request.id, request.paths);
  else if (request.op === 'guard')
    trees.set(request.id, { pid: request.pid, ended: false, mark: request.mark });
  else trees.delete(request.id);
});

async function end(): Promise<void> {
  await killTrees([...trees.values()], { graceMs: 0 });
  await removeTree(baseDir);
  process.exit();
}

process.once('disconnect', () => void end());
// Whether to stop is the worker's decision, also when a signal reaches the two of them at once.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
