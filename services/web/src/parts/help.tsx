// The keys that mean something on this page, opened by `?`.
import { useSignal } from '@preact/signals';
import { groups, useKeys } from '../keys.ts';
import { Dialog } from './dialog.tsx';

const NAMES: Record<string, string> = {
  Escape: 'Esc',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ArrowLeft: '←',
  ArrowRight: '→',
};

export function Help() {
  const isOpen = useSignal(false);
  useKeys('Everywhere', [{ key: '?', does: 'Show the keys', press: () => (isOpen.value = true) }]);
  return (
    <>
      <button
        type="button"
        class="button small"
        aria-label="Keys"
        title="Keys (?)"
        onClick={() => (isOpen.value = true)}
      >
        ?
      </button>
      {isOpen.value && (
        <Dialog title="Keys" onClose={() => (isOpen.value = false)}>
          {groups.value.map(({ title, keys }) => (
            <section key={title} class="help-group">
              <h3>{title}</h3>
              <dl>
                {keys.map(({ key, does }) => (
                  <div key={key}>
                    <dt>
                      <kbd>{NAMES[key] ?? key}</kbd>
                    </dt>
                    <dd>{does}</dd>
                  </div>
                ))}
              </dl>
            </section>
          ))}
          <div class="actions">
            <button type="button" class="button" onClick={() => (isOpen.value = false)}>
              Close
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
