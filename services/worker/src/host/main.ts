// A handler host: a child of the worker that runs the handlers of one module, and ends with it. Arguments: the module's
// file, and the worker's instance.
import { basename } from 'node:path';
import '@wfg/shared/sdk/register';
import { takeCarried } from '@wfg/shared/runtime/carried';
import { parseEnv } from '@wfg/shared/runtime/env';
import { createLogger } from '@wfg/shared/runtime/logger';
import { hostFields } from '../config.ts';
import { within } from '../within.ts';
import { errorText } from './error-text.ts';
import { type Host, startHost } from './host.ts';
import { loadErrorText } from './load-error.ts';
import { loadModule } from './load-module.ts';
import type { FromHost, ToHost } from './protocol.ts';
import { suspect } from './trace.ts';

/** For the report of an attempt that ends this process. */
const LAST_REPORT_MS = 2_000;

const [file = '', instance = ''] = process.argv.slice(2);
const config = parseEnv(hostFields, process.env);
const log = createLogger('worker', config.LOG_LEVEL).child({ module: basename(file) });
/** Resolved when the worker lets it serve what its module handles. */
const serving = Promise.withResolvers<void>();
let host: Host | null = null;
/** Nothing may begin, or go on being told, any more. */
let isDraining = false;
let isLeaving = false;
/** The channel's, which is not the module's: libraries say "ready" to whatever parent they find. */
const tell = process.send?.bind(process);
delete process.send;
/** Node calls it too, when the worker is gone: then nobody hears who did. */
const hangUp = process.disconnect.bind(process);
process.disconnect = () => {
  tellEnd('process.disconnect() was called');
  hangUp();
};

function send(message: FromHost, sent: () => void = () => undefined): void {
  // A worker that is gone is noticed by the channel's end, and nobody else is told.
  tell?.(message, undefined, undefined, sent);
}

/** That the code of an attempt, or of the module, ends this process. */
function tellEnd(error: string): void {
  send({ op: 'fault', id: suspect()?.id ?? null, error });
}

function leave(code: number): void {
  isLeaving = true;
  process.exit(code);
}

async function answer(): Promise<void> {
  send({ op: 'pong', carried: await takeCarried(), problems: host?.problems() ?? [] });
}

async function drain(): Promise<void> {
  isDraining = true;
  await host?.drain();
  send({ op: 'drained' });
}

async function close(): Promise<void> {
  await host?.[Symbol.asyncDispose]();
  leave(0);
}

process.on('message', (message: ToHost) => {
  if (message.op === 'ping') void answer();
  else if (message.op === 'serve') serving.resolve();
  else if (message.op === 'look') host?.look(message.why);
  else if (message.op === 'watch') host?.watch(message.keys);
  else if (message.op === 'stop') host?.stop(message.id, message.reason);
  else if (message.op === 'hurry') host?.hurry();
  else if (message.op === 'drain') void drain();
  else void close();
});

// The worker is gone: its leases run out, and nothing of this process counts any more.
process.once('disconnect', () => leave(1));
// Whether to stop is the worker's decision, also when a signal reaches the two of them at once.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

// After an error that nobody caught nothing in this process can be relied upon. It is the failure of the attempt that it
// came from; the worker gives up the others.
process.on('uncaughtException', (thrown) => void end(thrown));

async function end(thrown: unknown): Promise<void> {
  const culprit = suspect();
  const id = culprit?.id ?? null;
  send({ op: 'fault', id, error: errorText(thrown) });
  culprit?.blame(thrown);
  log.fatal({ err: thrown }, 'an error that nobody caught');
  void host?.drain();
  if (id !== null && host) await within(host.ended(id), LAST_REPORT_MS);
  leave(1);
}

process.once('exit', (code) => {
  if (!isLeaving) tellEnd(`process.exit(${code}) was called`);
});

try {
  const definitions = await loadModule(file);
  send({ op: 'ready', labels: [...definitions.keys()] });
  await serving.promise;
  if (!isDraining) host = startHost({ config, instance, definitions, send, log });
} catch (error) {
  send({ op: 'broken', error: loadErrorText(error) }, () => leave(1));
}
