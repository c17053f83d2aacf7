import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { jsonLine } from './terminal-safe.ts';

/** A client of a server that always answers this. */
async function clientOf(status: number, body: string): Promise<HttpClient> {
  const server = createServer((_request, response) => response.writeHead(status).end(body));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = z.custom<AddressInfo>().parse(server.address());
  return createHttpClient(new URL(`http://127.0.0.1:${port}/`));
}

test('numbers keep their digits from the answer to the output', async () => {
  const body = '{"metadata":{"n":[9007199254740993]}}';
  const http = await clientOf(200, body);
  const answer = await http.get('a', z.object({ metadata: z.record(z.string(), z.unknown()) }));
  expect(jsonLine(answer)).toBe(`${body}\n`);
});

test('what is no answer of wfg is said to be none', async () => {
  const failed = { exitCode: 3, message: expect.stringContaining('does not answer like wfg') };
  await expect((await clientOf(200, '<html>')).get('a', z.object({}))).rejects.toMatchObject(failed);
});

test('a refusal is told in the words of the server', async () => {
  const problem = {
    type: 't',
    title: 'Not found',
    status: 404,
    code: 'not_found',
    detail: 'none',
    errors: [],
  };
  const http = await clientOf(404, JSON.stringify(problem));
  await expect(http.get('a', z.unknown())).rejects.toMatchObject({ exitCode: 2, message: 'none' });
});
