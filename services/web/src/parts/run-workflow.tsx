// The button that starts a workflow, with variables where they are wanted.
import { useSignal } from '@preact/signals';
import { runWorkflow } from '../api/workflows.ts';
import { navigate, runPath } from '../router.ts';
import { Dialog } from './dialog.tsx';
import { Notice } from './notice.tsx';
import { useAction } from './use-action.ts';

export function RunWorkflow({ id, name }: { id: string; name: string }) {
  const asking = useSignal(false);
  return (
    <>
      <button type="button" class="button" onClick={() => (asking.value = true)}>
        Run now…<span class="unseen"> {name}</span>
      </button>
      {asking.value && <RunDialog id={id} name={name} onClose={() => (asking.value = false)} />}
    </>
  );
}

function RunDialog({ id, name, onClose }: { id: string; name: string; onClose: () => void }) {
  const text = useSignal('');
  const action = useAction();
  const env = envOf(text.value);

  async function start(): Promise<void> {
    await action.start(async () => {
      const { run_id } = await runWorkflow(id, env ?? {});
      navigate(runPath(run_id));
    });
  }

  return (
    <Dialog title={`Run ${name}`} onClose={onClose}>
      <form
        class="stacked"
        onSubmit={(event) => {
          event.preventDefault();
          void start();
        }}
      >
        <label>
          Variables for its commands, one a line; none are needed
          <textarea
            class="field mono"
            rows={4}
            placeholder="NAME=value"
            value={text.value}
            aria-invalid={env === null}
            onInput={(event) => (text.value = event.currentTarget.value)}
          />
        </label>
        {env === null && <Notice>Each line must be NAME=value.</Notice>}
        {action.problem.value && <Notice>{action.problem.value}</Notice>}
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Not now
          </button>
          <button class="button strong" disabled={env === null || action.isSent.value}>
            {action.isSent.value ? 'Starting…' : 'Run'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Null where a line is no variable. */
function envOf(text: string): Record<string, string> | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const pairs = lines.map((line) => /^\s*([A-Za-z_][A-Za-z0-9_]*)=(.*)$/.exec(line));
  if (pairs.includes(null)) return null;
  return Object.fromEntries(pairs.flatMap((pair) => (pair ? [[pair[1] ?? '', pair[2] ?? '']] : [])));
}
