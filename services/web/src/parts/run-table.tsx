// Runs in a list.
import { useSignal } from '@preact/signals';
import type { RunSummary } from '@wfg/shared/contract/run';
import { useRef } from 'preact/hooks';
import { useKeys } from '../keys.ts';
import { runPath } from '../router.ts';
import { faceOfRun } from './face.ts';
import { Status } from './status.tsx';
import { Age, Elapsed } from './time.tsx';

export function RunTable({ runs }: { runs: readonly RunSummary[] }) {
  const body = useRef<HTMLTableSectionElement>(null);
  const at = useSignal(-1);
  function go(step: number): void {
    const links = body.current?.querySelectorAll<HTMLElement>('.row-link') ?? [];
    at.value = Math.min(links.length - 1, Math.max(0, at.peek() + step));
    links[at.value]?.focus();
  }
  useKeys('Runs', [
    { key: 'j', does: 'Next run (Enter opens it)', press: () => go(1) },
    { key: 'k', does: 'Previous run', press: () => go(-1) },
  ]);
  return (
    <table class="table">
      <thead>
        <tr>
          <th scope="col">Run</th>
          <th scope="col">Status</th>
          <th scope="col" class="figure wide-only">
            Time
          </th>
          <th scope="col" class="figure">
            Created
          </th>
        </tr>
      </thead>
      <tbody ref={body}>
        {runs.map((run) => (
          <tr key={run.run_id} class="linked" data-state={run.status}>
            <th scope="row">
              <a class="row-link" href={runPath(run.run_id)}>
                <bdi>{run.name}</bdi>
                {run.number !== null && <span class="number"> #{run.number}</span>}
              </a>
              {run.rerun_of !== null && <span class="number"> rerun</span>}
              {run.error && <p class="remark">{run.error.split('\n', 1)[0]}</p>}
            </th>
            <td>
              <Status face={faceOfRun(run.status)} />
            </td>
            <td class="figure wide-only">
              <Elapsed from={run.started_at} to={run.finished_at} />
            </td>
            <td class="figure">
              <Age of={run.created_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
