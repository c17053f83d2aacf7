// The page for a path that means nothing.
import { useEffect } from 'preact/hooks';
import { setTitle } from '../parts/title.ts';

export function NotFoundPage() {
  useEffect(() => setTitle('Not found'), []);
  return (
    <>
      <h1>There is no such page</h1>
      <p class="hint">
        All runs are listed under <a href="/">Runs</a>.
      </p>
    </>
  );
}
