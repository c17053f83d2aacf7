// The graph of a run: every job from the start, with its state as it changes. Nothing moves by what jobs do.
import { type ReadonlySignal, useSignal, useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { JobCell } from '../live/run-model.ts';
import { jobPath, navigate, runPath } from '../router.ts';
import { FarNodes } from './far.tsx';
import { useGestures } from './gestures.ts';
import { GraphNode } from './node.tsx';
import { Overview } from './overview.tsx';
import { GraphTools } from './tools.tsx';
import { type GraphState, useGraph } from './use-graph.ts';
import { neighbourOf } from './walk.ts';

interface Props {
  run: string;
  jobs: ReadonlySignal<readonly JobCell[]>;
  selected: ReadonlySignal<string | null>;
}

export function Graph({ run, jobs, selected }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const world = useRef<HTMLDivElement>(null);
  const graph = useGraph(frame, jobs, selected);
  const { drawn, view, size } = graph;
  const gestures = useGestures(frame, view, graph.zoom);
  const focused = useSignal<number | null>(null);

  useSignalEffect(() => {
    const { x, y, zoom } = view.value;
    if (world.current) world.current.style.transform = `translate(${x}px, ${y}px) scale(${zoom})`;
  });

  function walk(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || !(event.target instanceof HTMLElement)) return;
    if (event.key === 'Escape') {
      graph.pointed.value = null;
      navigate(runPath(run));
      return;
    }
    const { boxes } = drawn.peek();
    const from = boxes.findIndex(({ id }) => id === boxIdOf(event.target));
    const to = from < 0 ? null : neighbourOf(drawn.peek(), from, event.key);
    const box = to === null ? undefined : boxes[to];
    if (!box) return;
    event.preventDefault();
    graph.reveal(box);
    focused.value = to;
    // Drawn by then, where it was out of view.
    requestAnimationFrame(() => {
      const nodes = frame.current?.querySelectorAll<HTMLElement>('[data-box]') ?? [];
      [...nodes].find((node) => node.dataset.box === box.id)?.focus({ preventScroll: true });
    });
  }

  return (
    <section class="graph" aria-label="Graph of the jobs">
      <GraphTools graph={graph} />
      <div
        class="graph-frame"
        ref={frame}
        {...gestures}
        onKeyDown={walk}
        onScroll={(event) => event.currentTarget.scrollTo(0, 0)}
        onPointerOver={(event) => {
          const at = drawn.peek().boxes.findIndex(({ id }) => id === boxIdOf(event.target));
          graph.pointed.value = at < 0 ? null : at;
        }}
        onPointerOut={() => (graph.pointed.value = null)}
        onClick={(event) => {
          const box = graph.isFar.peek() ? graph.boxUnder(event) : undefined;
          const [job] = box?.jobs ?? [];
          if (box && box.jobs.length > 1) graph.open(box);
          else if (job !== undefined) navigate(jobPath(run, job));
        }}
      >
        <div class="graph-world" ref={world}>
          <Lines graph={graph} selected={selected} />
          <Nodes run={run} graph={graph} selected={selected} focused={focused} />
        </div>
        <Overview
          drawn={drawn}
          view={view}
          size={size}
          onGo={(x, y) => {
            const { zoom } = view.peek();
            view.value = { zoom, x: size.peek().width / 2 - x * zoom, y: size.peek().height / 2 - y * zoom };
          }}
        />
      </div>
    </section>
  );
}

interface NodesProps extends Pick<Props, 'run' | 'selected'> {
  graph: GraphState;
  focused: ReadonlySignal<number | null>;
}

function Lines({ graph, selected }: Pick<NodesProps, 'graph' | 'selected'>) {
  return (
    <svg
      class="graph-lines"
      width="1"
      height="1"
      aria-hidden="true"
      data-faint={graph.lit.value ? '' : undefined}
    >
      <path d={graph.seen.value.lines} />
      <path class="graph-lit" d={graph.litLines.value} />
      {graph.isFar.value && <FarNodes drawn={graph.drawn} chosen={selected} />}
    </svg>
  );
}

function Nodes({ run, graph, selected, focused }: NodesProps) {
  const { boxes } = graph.seen.value;
  const chosen = graph.drawn.value.at.get(selected.value ?? '');
  const first = focused.value ?? chosen ?? boxes[0]?.index;
  return (
    <>
      {boxes.map(({ box, index }) => (
        <GraphNode
          key={box.id}
          run={run}
          box={box}
          inTabOrder={index === first}
          chosen={index === chosen}
          faint={graph.lit.value?.has(index) === false}
          onOpen={() => graph.open(box)}
        />
      ))}
    </>
  );
}

function boxIdOf(target: EventTarget | null): string | undefined {
  const node = target instanceof Element ? target.closest<HTMLElement>('[data-box]') : null;
  return node?.dataset.box;
}
