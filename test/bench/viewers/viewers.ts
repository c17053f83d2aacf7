// Starts the processes of the benches of live logs.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Subscribe } from '@wfg/shared/contract/live';
import { FromBare, FromViewers, type ToBare, type ToViewers } from './protocol.ts';

export type Report = Extract<FromViewers, { op: 'report' }>;

export interface Viewers extends Disposable {
  /** Resolves when so many messages have come that were in no report and not received before. */
  receive: (messages: number) => Promise<void>;
  /** Since the last one. */
  report: () => Promise<Report>;
}

interface BareServer extends Disposable {
  url: string;
  send: (order: ToBare) => void;
}

/** So many sockets in a process of their own, each open and, if a frame is given, subscribed. */
export async function startViewers(url: string, count: number, subscribe?: Subscribe): Promise<Viewers> {
  const frame = subscribe === undefined ? '' : JSON.stringify(subscribe);
  const child = start('program.ts', { url, count: String(count), subscribe: frame });
  const answer = async (op: FromViewers['op']) => {
    for (;;) {
      const [message] = await once(child, 'message');
      const told = FromViewers.parse(message);
      if (told.op === op) return told;
    }
  };
  const tell = (message: ToViewers) => child.send(message);
  await answer('open');
  return {
    async receive(messages) {
      const reached = answer('reached');
      tell({ op: 'expect', messages });
      await reached;
    },
    async report() {
      const reported = answer('report');
      tell({ op: 'report' });
      const told = await reported;
      if (told.op !== 'report') throw new Error('no report');
      return told;
    },
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

export async function startBareServer(): Promise<BareServer> {
  const child = start('bare.ts', {});
  const [message] = await once(child, 'message');
  const { port } = FromBare.parse(message);
  return {
    url: `ws://127.0.0.1:${port}`,
    send: (order) => void child.send(order),
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

function start(name: string, env: Record<string, string>): ChildProcess {
  const program = fileURLToPath(new URL(name, import.meta.url));
  const child = fork(program, { env: { PATH: process.env.PATH, ...env }, execArgv: [] });
  child.on('exit', (code, signal) => {
    if (signal !== 'SIGKILL') child.emit('error', new Error(`${name} ended: ${code ?? signal}`));
  });
  return child;
}
