// The entry of the browser client: the page, or the question for a token before it.
import { render } from 'preact';
import { readSession } from './api/session.ts';
import { LoginPage } from './pages/login.tsx';
import { startRouter } from './router.ts';
import { session } from './session.ts';

startRouter();
// Where the server does not answer the page says so itself.
await readSession().catch(() => undefined);
const root = document.getElementById('app');
if (root && session.value.role === null) render(<LoginPage ended={false} />, root);
else if (root) {
  // Only now: it connects as soon as it is there.
  const { App } = await import('./app.tsx');
  render(<App />, root);
}
