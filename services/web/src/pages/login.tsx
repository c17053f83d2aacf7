// Asks for the token. A reader who is let in begins with a fresh page at the same address.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { messageOf } from '../api/call.ts';
import { login } from '../api/session.ts';
import { Notice } from '../parts/notice.tsx';
import { setTitle } from '../parts/title.ts';

/** `ended`: there was a session, until now. */
export function LoginPage({ ended }: { ended: boolean }) {
  const field = useRef<HTMLInputElement>(null);
  const asking = useSignal(false);
  const problem = useSignal(ended ? 'Your session has ended: log in to go on.' : null);
  useEffect(() => {
    setTitle('Log in');
    field.current?.focus();
  }, []);

  async function submit(): Promise<void> {
    asking.value = true;
    problem.value = null;
    try {
      await login(field.current?.value.trim() ?? '');
      location.reload();
    } catch (error) {
      problem.value = messageOf(error);
      asking.value = false;
      field.current?.select();
    }
  }

  return (
    <main class="login">
      <h1>Log in to wfg</h1>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <label for="token">Admin token</label>
        <input
          id="token"
          class="field"
          type="password"
          autocomplete="current-password"
          required
          ref={field}
        />
        {problem.value && <Notice>{problem.value}</Notice>}
        <button type="submit" class="button strong" disabled={asking.value}>
          {asking.value ? 'Logging in…' : 'Log in'}
        </button>
      </form>
      <p class="hint">
        The server was started with it, as <code>WFG_ADMIN_TOKEN</code>.
      </p>
    </main>
  );
}
