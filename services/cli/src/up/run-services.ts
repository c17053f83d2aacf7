// Starts the services of `wfg up`, notes them in up.json, says when the api can be used, and stops them in order.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { startedAs, writeUpFile } from '../up-file.ts';
import type { Printer } from './printer.ts';
import { serviceSpecs, stopServices, type Surroundings } from './services.ts';
import { supervise } from './supervise.ts';

const POLL_MS = 50;
const HEALTH_ANSWER_MS = 2_000;

interface RunningServices extends AsyncDisposable {
  /** Rejects when one of them cannot run. */
  failed: Promise<never>;
}

interface ServicesSettings extends Omit<Surroundings, 'port'> {
  /** 0: any free port at the first start of the api, which then keeps it. */
  port: number;
  graceMs: number;
  dataDir: string;
  /** Where the database's address is; null where the user has it. */
  databaseFile: string | null;
  printer: Printer;
  log: Logger;
}

export function runServices(settings: ServicesSettings): RunningServices {
  const { graceMs, dataDir, databaseFile, printer, log } = settings;
  const stopping = new AbortController();
  let { port } = settings;
  let healthPort: number | undefined;
  let url: string | null = null;
  let written = Promise.resolve();

  const specs = serviceSpecs({ ...settings, port: () => port });
  const services = specs.map((spec) => supervise(spec, { log, onLine, onChange: note }));
  // Whatever ends this process, a second Ctrl-C too, its services go with it.
  const killAll = () => {
    for (const service of services) service.kill();
  };
  process.on('exit', killAll);
  // The signal that makes the api read the workflow files anew; people send it to the process they started.
  const reread = () => {
    const pid = services.find(({ name }) => name === 'api')?.pid();
    if (pid !== undefined) process.kill(pid, 'SIGHUP');
  };
  process.on('SIGHUP', reread);

  function onLine(name: string, line: string): void {
    const { msg, fields } = printer.line(name, line);
    if (name !== 'api') return;
    if (typeof fields.health_port === 'number') healthPort = fields.health_port;
    if (msg === 'listening' && typeof fields.url === 'string' && url === null) void announce(fields.url);
  }

  async function announce(listening: string): Promise<void> {
    const here = reachable(new URL(listening));
    port = Number(here.port);
    while (url === null) {
      await sleep(POLL_MS);
      if (stopping.signal.aborted) return;
      if (await isReady(here.hostname, healthPort)) url = here.origin;
    }
    note();
    printer.ready(url, databaseFile);
  }

  /** Writes what is so by then; one write after another. */
  function note(): void {
    written = written
      .then(() => {
        const pids = services.map((service) => service.pid()).filter((pid) => pid !== undefined);
        const children = pids.map(startedAs).filter((child) => child !== undefined);
        const me = startedAs(process.pid) ?? { pid: process.pid, started: '' };
        return writeUpFile(dataDir, { ...me, url, children });
      })
      .catch((err: unknown) => log.warn({ err }, 'cannot write up.json: other commands need --url'));
  }

  return {
    failed: Promise.race(services.map((service) => service.failed)),
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await stopServices(services, graceMs);
      process.off('exit', killAll);
      process.off('SIGHUP', reread);
      await written;
    },
  };
}

/** Where to find, from this machine, what listens on all its addresses. */
function reachable(listening: URL): URL {
  if (listening.hostname === '0.0.0.0') listening.hostname = '127.0.0.1';
  if (listening.hostname === '[::]') listening.hostname = '[::1]';
  return listening;
}

async function isReady(host: string, healthPort: number | undefined): Promise<boolean> {
  if (healthPort === undefined) return false;
  try {
    const signal = AbortSignal.timeout(HEALTH_ANSWER_MS);
    return (await fetch(`http://${host}:${healthPort}/ready`, { signal })).ok;
  } catch {
    return false;
  }
}
