import { WfgError } from '@wfg/shared/contract/problem';
import { expect, test } from 'vitest';
import { originCheck } from './origin.ts';

const TRUSTED = ['https://ci.example.org'];

/** The code of the refusal, or null. */
function refusal(method: string, origin: string | undefined, host: string, isGuarded = false): string | null {
  try {
    originCheck(TRUSTED, () => isGuarded)({ method, host, origin });
    return null;
  } catch (err) {
    return err instanceof WfgError ? err.code : String(err);
  }
}

test.each([
  ['http://localhost:3000', 'localhost:3000', null],
  ['http://127.0.0.1:3000', '127.0.0.1:3000', null],
  [undefined, 'localhost:3000', null],
  ['https://ci.example.org', 'localhost:3000', null],
  ['http://localhost:4000', 'localhost:3000', 'foreign_origin'],
  ['http://127.0.0.1:3000', 'localhost:3000', 'foreign_origin'],
  ['null', 'localhost:3000', 'foreign_origin'],
  ['http://ci.example.org', 'localhost:3000', 'foreign_origin'],
  // DNS rebinding: the page's own name leads to this machine.
  ['http://evil.example:3000', 'evil.example:3000', 'foreign_host'],
  [undefined, '', 'foreign_host'],
])('without a token: a page of %s that changes something at %s: %s', (origin, host, refused) => {
  expect(refusal('POST', origin, host)).toBe(refused);
  expect(refusal('UPGRADE', origin, host)).toBe(refused);
});

test('without a token a foreign host is refused even to readers, a foreign page is not', () => {
  expect(refusal('GET', undefined, 'evil.example:3000')).toBe('foreign_host');
  expect(refusal('GET', 'http://evil.example', 'localhost:3000')).toBeNull();
});

test.each([
  ['https://wfg.example.org', 'wfg.example.org', null],
  // Proxies that name the port, also where browsers leave it out.
  ['https://wfg.example.org', 'wfg.example.org:443', null],
  ['http://wfg.example.org', 'wfg.example.org:80', null],
  ['http://wfg.example.org:8080', 'wfg.example.org:8080', null],
  // Those that put their own name in its place: CORS_ORIGINS names the page's.
  ['https://ci.example.org', 'api:3000', null],
  ['https://wfg.example.org', 'api:3000', 'foreign_origin'],
  ['https://evil.example', 'wfg.example.org', 'foreign_origin'],
  ['https://wfg.example.org.evil.example', 'wfg.example.org', 'foreign_origin'],
  ['https://wfg.example.org:8443', 'wfg.example.org', 'foreign_origin'],
  ['null', 'wfg.example.org', 'foreign_origin'],
])('with a token: a page of %s that changes something at %s: %s', (origin, host, refused) => {
  expect(refusal('POST', origin, host, true)).toBe(refused);
});
