import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ownFolder } from './folder-owner.ts';

/** Takes the folders that a line of input names, as many as it can, answers which, and keeps them until killed. */
const TAKER = `
  import { createInterface } from 'node:readline';
  import { ownFolder } from '@wfg/shared/runtime/folder-owner';
  console.log('[]');
  for await (const line of createInterface({ input: process.stdin })) {
    const taken = [];
    for (const folder of JSON.parse(line)) await ownFolder(folder).then(() => taken.push(folder), () => {});
    console.log(JSON.stringify(taken));
  }`;

let parent: string;
let takers: Taker[];
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'wfg-owner-'));
  takers = [];
});
afterEach(async () => {
  for (const taker of takers) await taker.kill();
  rmSync(parent, { recursive: true });
});

class Taker {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: Interface;

  constructor() {
    this.#child = spawn(process.execPath, ['--input-type=module', '--eval', TAKER], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#lines = createInterface({ input: this.#child.stdout });
    takers.push(this);
  }

  get pid() {
    return this.#child.pid;
  }

  async started(): Promise<this> {
    await once(this.#lines, 'line');
    return this;
  }

  async take(folders: string[]): Promise<string[]> {
    this.#child.stdin.write(`${JSON.stringify(folders)}\n`);
    const [answer] = await once(this.#lines, 'line');
    return JSON.parse(String(answer));
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'exit');
  }
}

test('it is taken once, given back, and can be taken again', async () => {
  const release = await ownFolder(parent);
  await expect(ownFolder(parent)).rejects.toThrow(`process ${process.pid} is using it (WFG_DATA_DIR`);
  await release();
  await (await ownFolder(parent))();
  expect(readdirSync(parent)).toEqual([]);
});

test('what a living process has is refused, what a killed one left is free', async () => {
  const owner = await new Taker().started();
  expect(await owner.take([parent])).toEqual([parent]);
  await expect(ownFolder(parent)).rejects.toThrow(`process ${owner.pid} is using it`);
  await owner.kill();
  const release = await ownFolder(parent);
  expect(readdirSync(parent)).toHaveLength(1);
  await release();
});

test('of processes that find at once what a killed one left, exactly one gets it', async () => {
  const folders = Array.from({ length: 200 }, (_, i) => join(parent, String(i)));
  for (const folder of folders) mkdirSync(folder);
  const owner = await new Taker().started();
  expect(await owner.take(folders)).toEqual(folders);
  await owner.kill();
  const rivals = await Promise.all(Array.from({ length: 4 }, () => new Taker().started()));
  const taken = await Promise.all(rivals.map((rival) => rival.take(folders)));
  expect(taken.flat().sort()).toEqual(folders.toSorted());
});

test('a folder that is not there', async () => {
  await expect(ownFolder(join(parent, 'none'))).rejects.toThrow(/^cannot use the data folder .*ENOENT/);
});
