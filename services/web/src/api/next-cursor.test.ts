import { expect, test } from 'vitest';
import { nextCursor } from './next-cursor.ts';

test('the cursor is found beside other parameters, and missing on the last page', () => {
  expect(nextCursor('</api/workflows?limit=2&cursor=a-_b>; rel="next"')).toBe('a-_b');
  expect(nextCursor('</api/workflows?cursor=a%3D>; rel="next"')).toBe('a=');
  expect(nextCursor(null)).toBeNull();
});
