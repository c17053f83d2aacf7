#!/usr/bin/env node
// Starts the wfg command on a Node that runs TypeScript: this one, or the one that the packages bring along. Plain
// JavaScript for any Node since 18.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const NEEDED = [24, 12];
const main = new URL('./main.ts', import.meta.url);
const packaged = fileURLToPath(new URL('../../../node_modules/.bin/node', import.meta.url));

const [major, minor] = process.versions.node.split('.').map(Number);
if (major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])) await import(main.href);
else if (existsSync(packaged)) runOn(packaged);
else {
  const here = fileURLToPath(new URL('../../..', import.meta.url));
  console.error(
    `wfg: needs Node ${NEEDED.join('.')}, and ${process.version} is running: run "npm ci" in ${here}, or install it`,
  );
  process.exitCode = 2;
}

/** Signals are passed on, never acted on: the terminal must not come back while the command still stops. */
function runOn(node) {
  const child = spawn(node, [fileURLToPath(main), ...process.argv.slice(2)], {
    stdio: 'inherit',
    // `wfg up` stops when this process is gone.
    env: { ...process.env, WFG_PARENT_PID: String(process.pid) },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (err) => {
    console.error(`wfg: cannot start ${node}: ${err.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
