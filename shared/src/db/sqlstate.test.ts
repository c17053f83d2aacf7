import { expect, test } from 'vitest';
import { errorCode, isConnectionError } from './sqlstate.ts';

const coded = (code: string, more = {}) => Object.assign(new Error('x'), { code }, more);

test.each(['08006', '53300', '57P01', '57P03', '25P03', 'ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND'])(
  'the database is away: %s',
  (code) => {
    expect(isConnectionError(coded(code))).toBe(true);
  },
);

test.each([
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error and is not queryable',
])('the database is away: %s', (message) => {
  expect(isConnectionError(new Error(message))).toBe(true);
});

test.each(['23505', '40P01', '57014', '28P01', '3D000'])('the database answered: %s', (code) => {
  expect(isConnectionError(coded(code))).toBe(false);
});

test('a file that is missing is not a socket that is missing', () => {
  expect(isConnectionError(coded('ENOENT', { syscall: 'connect' }))).toBe(true);
  expect(isConnectionError(coded('ENOENT', { syscall: 'open' }))).toBe(false);
});

test('other values have no code', () => {
  expect(errorCode(coded('23505'))).toBe('23505');
  expect([errorCode(new Error('x')), errorCode('x'), errorCode(null), errorCode(coded('').message)]).toEqual(
    Array.from({ length: 4 }),
  );
  expect(isConnectionError('ECONNREFUSED')).toBe(false);
});
