import { expect, test } from 'vitest';
import { cookieName, credentialOf, sha256 } from './credential.ts';

const host = 'localhost:3000';
const token = { kind: 'token', hash: sha256('t0ken') };
const session = { kind: 'session', hash: sha256('s3ssion') };

test.each([
  ['Bearer t0ken', undefined, token],
  ['bearer  t0ken', undefined, token],
  [undefined, 'a=b; wfg_session_3000=s3ssion', session],
  ['Bearer t0ken', 'wfg_session_3000=s3ssion', token],
  // A proxy's own, which some pass on.
  ['Basic dXNlcjpwYXNz', 'wfg_session_3000=s3ssion', session],
  ['Bearer', undefined, null],
  ['Bearer a b', undefined, null],
  [undefined, 'wfg_session_3001=s3ssion', null],
  [undefined, 'wfg_session=s3ssion', null],
  [undefined, undefined, null],
])('authorization %s, cookie %s', (authorization, cookie, credential) => {
  expect(credentialOf({ authorization, cookie, host })).toEqual(credential);
});

test('a cookie is named after the port, where there is one', () => {
  expect(cookieName('wfg.example.org')).toBe('wfg_session');
  expect(cookieName('[::1]:3000')).toBe('wfg_session_3000');
});
