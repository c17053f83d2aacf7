// Above a graph: find a job, zoom, see it whole.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { useKeys } from '../keys.ts';
import type { GraphState } from './use-graph.ts';

const STEP = 1.4;

export function GraphTools({ graph }: { graph: GraphState }) {
  const field = useRef<HTMLInputElement>(null);
  const at = useSignal(-1);
  useKeys('Graph', [
    { key: '/', does: 'Find a job', press: () => field.current?.focus() },
    { key: '+', does: 'Zoom in', press: () => graph.zoom(STEP) },
    { key: '-', does: 'Zoom out', press: () => graph.zoom(1 / STEP) },
    { key: '0', does: 'Fit the graph', press: graph.fit },
  ]);
  const found = graph.found.value;

  function next(step: number): void {
    if (!found || found.length === 0) return;
    at.value = (at.value + step + found.length) % found.length;
    const box = graph.drawn.peek().boxes[found[at.value] ?? 0];
    if (box) graph.go(box);
  }

  return (
    <div class="graph-tools">
      <input
        ref={field}
        class="field small"
        type="search"
        placeholder="Find a job"
        aria-label="Find a job in the graph; Enter goes to the next"
        value={graph.wanted.value}
        onInput={(event) => {
          graph.wanted.value = event.currentTarget.value;
          at.value = -1;
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') next(event.shiftKey ? -1 : 1);
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      {found && (
        <span class="graph-found" role="status">
          {found.length === 0
            ? 'none'
            : at.value < 0
              ? `${found.length} found`
              : `${at.value + 1} of ${found.length}`}
        </span>
      )}
      <span class="graph-zoom">
        {graph.hasOpen.value && (
          <button type="button" class="button small" onClick={graph.close}>
            Fold groups
          </button>
        )}
        <button type="button" class="button small" aria-label="Zoom out" onClick={() => graph.zoom(1 / STEP)}>
          −
        </button>
        <button type="button" class="button small" aria-label="Zoom in" onClick={() => graph.zoom(STEP)}>
          +
        </button>
        <button type="button" class="button small" onClick={graph.fit}>
          Fit
        </button>
      </span>
    </div>
  );
}
