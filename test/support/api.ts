// An api process of its own, and a client for it.

import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, createClient } from '@wfg/shared/client/client';
import { inject } from 'vitest';
import { startService, type TestProcess } from './process.ts';

export interface Answer {
  status: number;
  headers: Headers;
  // What a test expects of a body it says by comparing.
  body: unknown;
}

export interface TestApi extends TestProcess {
  url: string;
  /** For what is to succeed. */
  wfg: Client;
  /** Sends whatever request, for what is to fail; a body that is no string is sent as JSON. */
  ask: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>;
}

/** Starts an api on the database; without WORKFLOWS_DIR its folder of workflow files is empty. */
export async function startApi(databaseUrl: string, env: Record<string, string> = {}): Promise<TestApi> {
  const folder = env.WORKFLOWS_DIR ?? (await emptyFolder());
  const api = startService('api', { DATABASE_URL: databaseUrl, ...env, WORKFLOWS_DIR: folder });
  const { url } = await api.logged('listening');
  return { ...api, url: String(url), wfg: createClient({ url: String(url) }), ask: askOf(String(url)) };
}

export function emptyFolder(): Promise<string> {
  return mkdtemp(join(inject('runFolder'), 'files-'));
}

export function askOf(url: string): TestApi['ask'] {
  return async (method, path, body, headers = {}) => {
    const isText = typeof body === 'string';
    const response = await fetch(url + path, {
      method,
      headers: {
        ...(body === undefined || isText ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : isText ? body : JSON.stringify(body),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
  };
}
