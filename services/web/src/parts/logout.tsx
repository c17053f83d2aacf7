// The button that ends the session.
import { useSignal } from '@preact/signals';
import { messageOf } from '../api/call.ts';
import { logout } from '../api/session.ts';
import { session } from '../session.ts';

export function Logout() {
  const problem = useSignal<string | null>(null);
  if (!session.value.required) return null;

  async function leave(): Promise<void> {
    try {
      await logout();
      location.reload();
    } catch (error) {
      problem.value = messageOf(error);
    }
  }

  return (
    <button
      type="button"
      class="button small"
      title={problem.value ?? undefined}
      onClick={() => void leave()}
    >
      {problem.value === null ? 'Log out' : 'Log out: try again'}
    </button>
  );
}
