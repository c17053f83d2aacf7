import { answering } from '@wfg/shared/client/answering.fixture';
import { WfgError } from '@wfg/shared/contract/problem';
import { getOutputs } from '@wfg/shared/contract/routes/jobs';
import { getRun } from '@wfg/shared/contract/routes/runs';
import { RUN_ID, runOf } from '@wfg/shared/contract/run.fixture';
import { expect, test } from 'vitest';
import { createHttpClient, type HttpClient } from './http-client.ts';
import type { Server } from './server.ts';
import { jsonLine } from './terminal-safe.ts';

const params = { run: RUN_ID, job: 'a' };

/** A client of a server that always answers this. */
async function clientOf(
  status: number,
  body: string,
  headers = {},
  token?: Server['token'],
): Promise<HttpClient> {
  const url = await answering((_request, response) => response.writeHead(status, headers).end(body));
  return createHttpClient({ base: new URL(url), token });
}

test('numbers keep their digits from the answer to the output', async () => {
  const body = JSON.stringify(runOf({})).replace('"payload":null', '"payload":{"n":[9007199254740993]}');
  const run = await (await clientOf(200, body))(getRun, { params });
  expect(jsonLine(run)).toContain('"payload":{"n":[9007199254740993]}');
});

test('what is no answer of wfg is said to be none', async () => {
  const failed = { exitCode: 3, message: expect.stringContaining('does not answer like wfg') };
  await expect((await clientOf(200, '<html>'))(getOutputs, { params })).rejects.toMatchObject(failed);
});

test('a refusal is told in the words of the server', async () => {
  const problem = new WfgError('not_found', 'none').toProblem();
  const http = await clientOf(404, JSON.stringify(problem));
  await expect(http(getOutputs, { params })).rejects.toMatchObject({ exitCode: 2, message: 'none' });
});

test('where the server says what to do nothing is added', async () => {
  const message = 'the database is too busy: try again';
  const problem = new WfgError('unavailable', message).toProblem();
  const http = await clientOf(503, JSON.stringify(problem), { 'retry-after': '2' });
  await expect(http(getOutputs, { params })).rejects.toMatchObject({ exitCode: 3, message });
});

test('what passes is told to, and what stands in between is shown by its status', async () => {
  const http = await clientOf(502, '<html>', { 'retry-after': '2' });
  await expect(http(getOutputs, { params })).rejects.toMatchObject({
    exitCode: 3,
    message: 'the server answered 502 Bad Gateway: try again in a moment',
  });
});

test('a token that is missing or wrong is said to be, without a word of what it is', async () => {
  const without = await clientOf(401, '');
  await expect(without(getOutputs, { params })).rejects.toMatchObject({
    exitCode: 2,
    message: `${without.server.base.href} asks for a token: set WFG_TOKEN, or WFG_TOKEN_FILE, or give --token`,
  });
  const wrong = await clientOf(401, '', {}, { value: 'secret', from: '--token' });
  await expect(wrong(getOutputs, { params })).rejects.toMatchObject({
    exitCode: 2,
    message: `${wrong.server.base.href} refuses the token of --token: it is wrong, or was replaced`,
  });
});

test('a server that is not there is said not to be', async () => {
  const http = createHttpClient({ base: new URL('http://127.0.0.1:2/'), token: undefined });
  await expect(http(getOutputs, { params })).rejects.toMatchObject({
    exitCode: 3,
    message:
      'cannot reach wfg at http://127.0.0.1:2/ (nothing listens there): check that it is running, and --url',
  });
});
