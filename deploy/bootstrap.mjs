// The first step of `npm start` and `npm test`: makes a fresh clone runnable, then runs the given script on a
// Node that can. Plain JavaScript, since it runs before anything is installed and on whatever Node there is
// (>= 20).
//
//   node deploy/bootstrap.mjs [script [arguments]]

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const NODE_NEEDED = [24, 12];
/** `npm install` writes the lock file and its copy in node_modules one after the other. */
const INSTALL_SLACK_MS = 2_000;
const PARENT_CHECK_MS = 1_000;

await install();
await buildClient();
const [script, ...args] = process.argv.slice(2);
if (script !== undefined) process.exit(await run(suitableNode(), [script, ...args]));

async function install() {
  const installed = changedAt('node_modules/.package-lock.json');
  if (changedAt('package-lock.json') <= installed + INSTALL_SLACK_MS) return;
  say(installed === 0 ? 'installing packages, once: npm ci' : 'package-lock.json has changed: npm ci');
  // No package needs its install script here; omitted packages would be missed only later, one at a time.
  await npm('ci', '--ignore-scripts', '--include=dev', '--include=optional', '--loglevel=error');
}

async function buildClient() {
  const sources = ['src', 'public', 'index.html', 'vite.config.ts', 'package.json'].map(
    (name) => `services/web/${name}`,
  );
  const built = changedAt('services/web/dist/index.html');
  if (Math.max(...sources.map(newest)) <= built) return;
  say(`building the browser client: npm run build -w services/web`);
  await npm('run', 'build', '-w', 'services/web', '--silent', '--', '--logLevel', 'warn');
}

async function npm(...command) {
  const { npm_execpath: path, npm_node_execpath: node = process.execPath } = process.env;
  const isNpm = path !== undefined && basename(path).startsWith('npm');
  const code = isNpm ? await run(node, [path, ...command]) : await run('npm', command);
  if (code === 0) return;
  say(`npm ${command.join(' ')} failed: see above`);
  process.exit(code);
}

/** Our own Node if it is new enough, else the one that the packages bring along. */
function suitableNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > NODE_NEEDED[0] || (major === NODE_NEEDED[0] && minor >= NODE_NEEDED[1]))
    return process.execPath;
  const packaged = join(ROOT, 'node_modules', '.bin', 'node');
  if (existsSync(packaged)) return packaged;
  say(`this needs Node ${NODE_NEEDED.join('.')} or newer, and ${process.version} is running: install it`);
  return process.exit(1);
}

/**
 * Runs a program to its end and returns its exit code. Signals are passed on, never acted on: the terminal
 * must not come back while the program still stops. It is also stopped when npm, which started us, is gone.
 */
function run(program, programArgs) {
  return new Promise((resolve) => {
    const child = spawn(program, programArgs, { cwd: ROOT, stdio: 'inherit' });
    const pass = (signal) => child.kill(signal);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, pass);
    const parent = process.ppid;
    const watch = setInterval(() => {
      if (process.ppid === parent || !process.env.npm_lifecycle_event) return;
      clearInterval(watch);
      child.kill('SIGTERM');
    }, PARENT_CHECK_MS);
    const end = (code) => {
      clearInterval(watch);
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, pass);
      resolve(code);
    };
    child.on('error', (err) => {
      say(`cannot start ${program}: ${err.message}`);
      end(1);
    });
    child.on('exit', (code, signal) => end(code ?? 128 + constants.signals[signal]));
  });
}

/** When a file was last written, in milliseconds; 0 if it is not there. */
function changedAt(path) {
  return statSync(join(ROOT, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** The last change of a file, or of anything in a folder, its deletions included. */
function newest(path) {
  const full = join(ROOT, path);
  if (!statSync(full, { throwIfNoEntry: false })?.isDirectory()) return changedAt(path);
  return Math.max(changedAt(path), ...readdirSync(full).map((name) => newest(`${path}/${name}`)));
}

function say(text) {
  process.stderr.write(`wfg: ${text}\n`);
}
