// Stores a workflow file: chosen, dropped or written, with what is wrong in it told in its place.
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { ApiError } from '../api/call.ts';
import { storeWorkflow } from '../api/workflows.ts';
import { navigate, pathTo } from '../router.ts';
import { Dialog } from './dialog.tsx';
import { Notice } from './notice.tsx';
import { useAction } from './use-action.ts';

interface Props {
  /** What is replaced; null: a new one. */
  id: string | null;
  onClose: () => void;
}

export function UploadWorkflow({ id, onClose }: Props) {
  const text = useSignal('');
  const faults = useSignal<ApiError['errors']>([]);
  const action = useAction();
  const key = useMemo(() => crypto.randomUUID(), [text.value]);

  async function take(files: FileList | null | undefined): Promise<void> {
    const file = files?.[0];
    if (file) text.value = await file.text();
  }

  async function store(): Promise<void> {
    faults.value = [];
    await action.start(async () => {
      try {
        const stored = await storeWorkflow(id, text.value, key);
        onClose();
        navigate(pathTo('workflow', { workflow: stored.id }));
      } catch (error) {
        if (error instanceof ApiError) faults.value = error.errors;
        throw error;
      }
    });
  }

  return (
    <Dialog title={id === null ? 'New workflow' : `Replace ${id}`} onClose={onClose}>
      <form
        class="stacked"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          void take(event.dataTransfer?.files);
        }}
        onSubmit={(event) => {
          event.preventDefault();
          void store();
        }}
      >
        <label>
          A file (YAML or JSON), chosen or dropped here
          <input
            type="file"
            accept=".yml,.yaml,.json"
            onChange={(event) => void take(event.currentTarget.files)}
          />
        </label>
        <label>
          Its text
          <textarea
            class="field mono"
            rows={14}
            spellcheck={false}
            placeholder={'name: hello\njobs:\n  greet:\n    run: echo hello'}
            value={text.value}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
        </label>
        {action.problem.value && <Notice>{action.problem.value}</Notice>}
        {faults.value.length > 1 && (
          <ul class="faults">
            {faults.value.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                <code>{path}</code> {message}
              </li>
            ))}
          </ul>
        )}
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Not now
          </button>
          <button class="button strong" disabled={text.value.trim() === '' || action.isSent.value}>
            {action.isSent.value ? 'Storing…' : 'Store'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
