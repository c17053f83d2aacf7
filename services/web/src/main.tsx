// The entry of the browser client.
import { render } from 'preact';
import { App } from './app.tsx';
import { startRouter } from './router.ts';

startRouter();
const root = document.getElementById('app');
if (root) render(<App />, root);
