// A process of many viewers, so that what they cost is not the cost of the test: sockets that subscribe, and count.
import { WebSocket } from 'ws';
import { z } from 'zod';
import { type FromViewers, ToViewers } from './protocol.ts';

const Order = z.object({ url: z.string(), count: z.coerce.number(), subscribe: z.string() });
/** So many viewers read what they get, of which each line begins with the time it was printed. */
const READERS = 5;

const { url, count, subscribe } = Order.parse(process.env);
let messages = 0;
let bytes = 0;
let expected = Number.POSITIVE_INFINITY;
let latencies: number[] = [];
let open = 0;

const say = (message: FromViewers) => process.send?.(message);

function reach(): void {
  messages -= expected;
  expected = Number.POSITIVE_INFINITY;
  say({ op: 'reached' });
}

function look(data: Buffer): void {
  const now = Date.now();
  const frame: unknown = JSON.parse(data.toString('utf8'));
  const { data: chunk } = z.object({ op: z.literal('log'), data: z.string() }).safeParse(frame);
  for (const line of chunk?.data.split('\n') ?? []) {
    const time = Number(line.slice(0, 13));
    if (time > 1e12) latencies.push(now - time);
  }
}

for (let index = 0; index < count; index++) {
  const socket = new WebSocket(url, 'wfg.v1', { perMessageDeflate: false });
  socket.on('open', () => {
    if (subscribe !== '') socket.send(subscribe);
    if (++open === count) say({ op: 'open' });
  });
  socket.on('message', (data) => {
    if (!Buffer.isBuffer(data)) return;
    messages++;
    bytes += data.length;
    if (index < READERS) look(data);
    if (messages >= expected) reach();
  });
  socket.on('error', (error) => {
    throw error;
  });
}

process.on('message', (message) => {
  const order = ToViewers.parse(message);
  if (order.op === 'expect') {
    expected = order.messages;
    if (messages >= expected) reach();
    return;
  }
  const sorted = latencies.sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  say({ op: 'report', messages, bytes, p50: at(0.5), p99: at(0.99), worst: at(1) });
  latencies = [];
  messages = bytes = 0;
});
process.on('disconnect', () => process.exit());
