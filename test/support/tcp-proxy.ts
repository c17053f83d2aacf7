// A TCP proxy in front of a database, to cut and stall the network between it and what is tested, and to count what is
// asked of it.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { notificationFilter } from './notification-filter.ts';
import { statementCounter } from './statements.ts';

/** The server's last words on what it was sent: ready for more, and in no transaction. */
const IDLE = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

export class TcpProxy implements AsyncDisposable {
  readonly #target: URL;
  readonly #server = createServer((client) => this.#join(client));
  readonly #sockets = new Set<Socket>();
  readonly #forgotten = new WeakSet<Socket>();
  #port = 0;
  #stalled = false;
  #statements = 0;
  #frozen = false;
  #mute = false;
  #cutAt: { text: string; done: () => void } | undefined;
  #cutAnswer: { texts: string[]; done: () => void } | undefined;

  private constructor(target: string) {
    this.#target = new URL(target);
  }

  /** Starts a proxy to the server of a database URL. */
  static async start(target: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await proxy.open();
    return proxy;
  }

  /** The database URL by way of this proxy. */
  get url(): string {
    const url = new URL(this.#target);
    url.hostname = '127.0.0.1';
    url.port = String(this.#port);
    return url.href;
  }

  /** How many are open at the moment. */
  get connections(): number {
    return this.#sockets.size / 2;
  }

  /** How many have been sent so far, on all connections. */
  get statements(): number {
    return this.#statements;
  }

  /** Accepts connections, again on the same port. */
  async open(): Promise<void> {
    this.#stalled = false;
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (typeof address === 'object' && address !== null) this.#port = address.port;
  }

  /** Ends all connections and refuses new ones. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.cut();
    await closed;
  }

  /** Ends all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Ends the next connection that sends this text, before the server sees it; resolves when it happens. */
  cutAt(text: string): Promise<void> {
    return new Promise((done) => {
      this.#cutAt = { text, done };
    });
  }

  /**
   * Ends the next connection that sends these texts together, when the server has done what they say, has committed,
   * and its answer is on the way; resolves when it happens.
   */
  cutAnswer(...texts: string[]): Promise<void> {
    return new Promise((done) => {
      this.#cutAnswer = { texts, done };
    });
  }

  /** Like a network that was cut: connections stay, and nothing comes from the server any more. */
  stall(): void {
    this.#stalled = true;
  }

  /** New connections work again; what was lost before stays lost. */
  unstall(): void {
    this.#stalled = false;
  }

  /** From now on no notification passes; all else does. */
  mute(): void {
    this.#mute = true;
  }

  unmute(): void {
    this.#mute = false;
  }

  /** Like a router that forgets its connections: these stay, silent for ever; new ones work. */
  forget(): void {
    for (const socket of this.#sockets) this.#forgotten.add(socket);
  }

  /** Like a link that is cut: connections stay, and nothing goes either way; nothing is lost. */
  freeze(): void {
    this.#frozen = true;
    for (const socket of this.#sockets) socket.pause();
  }

  /** Goes on, with what was sent meanwhile. */
  thaw(): void {
    this.#frozen = false;
    for (const socket of this.#sockets) socket.resume();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server.listening) await this.close();
  }

  #join(client: Socket): void {
    const server = connect(Number(this.#target.port || 5432), this.#target.hostname);
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
    const countIn = statementCounter();
    let unanswered: { done: () => void } | undefined;
    client.on('data', (data) => {
      this.#statements += countIn(data);
      if (this.#cutAnswer?.texts.every((text) => data.includes(text))) {
        unanswered = this.#cutAnswer;
        this.#cutAnswer = undefined;
      }
      if (this.#cutAt === undefined || !data.includes(this.#cutAt.text)) return server.write(data);
      this.#cutAt.done();
      this.#cutAt = undefined;
      return client.destroy();
    });
    const pass = notificationFilter(() => this.#mute);
    server.on('data', (sent) => {
      const data = pass(sent);
      if (this.#stalled || this.#forgotten.has(client)) return;
      if (unanswered === undefined) client.write(data);
      else if (data.subarray(-IDLE.length).equals(IDLE)) {
        unanswered.done();
        client.destroy();
      }
    });
    // After the handlers, which make them flow.
    if (this.#frozen) for (const socket of [client, server]) socket.pause();
  }
}
