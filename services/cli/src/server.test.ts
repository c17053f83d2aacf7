import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serverOf } from './server.ts';

const here = 'http://localhost:3000';
const there = 'https://wfg.example.org';
const option = { value: 'option', from: '--token' };
const ours = { value: 'ours', from: 'WFG_TOKEN' };
const admins = { value: 'the-token-of-an-admin', from: 'WFG_ADMIN_TOKEN' };

test.each([
  [here, undefined, {}, undefined],
  [here, 'option', { WFG_TOKEN: 'ours', WFG_ADMIN_TOKEN: admins.value }, option],
  [here, undefined, { WFG_TOKEN: 'ours', WFG_ADMIN_TOKEN: admins.value }, ours],
  [here, undefined, { WFG_TOKEN: '', WFG_ADMIN_TOKEN: admins.value }, admins],
  // What runs here has it anyway; what runs elsewhere is not told.
  [there, undefined, { WFG_ADMIN_TOKEN: admins.value }, undefined],
  [there, undefined, { WFG_TOKEN: 'ours' }, ours],
])('%s, --token %s, %j', (url, token, env, expected) => {
  expect(serverOf({ url, token }, env).token).toEqual(expected);
});

test('the token may be in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wfg-cli-'));
  const file = join(folder, 'token');
  writeFileSync(file, 'ours\n');
  expect(serverOf({ url: there }, { WFG_TOKEN_FILE: file }).token).toEqual(ours);
  const both = { WFG_TOKEN: 'x', WFG_TOKEN_FILE: file };
  expect(() => serverOf({ url: there }, both)).toThrow(
    'WFG_TOKEN and WFG_TOKEN_FILE are both set: remove one',
  );
  rmSync(folder, { recursive: true });
});

test.each(['', 'a b', 'a\nb', 'tökén'])('a token that no header can carry is refused unseen: %j', (token) => {
  expect(() => serverOf({ url: there, token }, {})).toThrow(
    expect.objectContaining({
      exitCode: 2,
      message: '--token must be visible ASCII characters without spaces',
    }),
  );
});
