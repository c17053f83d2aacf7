// One box of the graph: a link to its job, or a button that opens its group. It follows its own jobs, and no others.
import { useComputed } from '@preact/signals';
import { faceOfJob } from '../parts/face.ts';
import { Icon, Status } from '../parts/status.tsx';
import { Elapsed } from '../parts/time.tsx';
import { jobPath } from '../router.ts';
import type { DrawnBox } from './drawn.ts';
import { toneOf } from './drawn.ts';

interface Props {
  run: string;
  box: DrawnBox;
  /** Whether Tab comes to it. */
  inTabOrder: boolean;
  chosen: boolean;
  /** Off the path that is pointed at, or not what is searched. */
  faint: boolean;
  onOpen: () => void;
}

export function GraphNode({ run, box, inTabOrder, chosen, faint, onOpen }: Props) {
  const { x, y, width, height } = box.rect;
  const tone = useComputed(() => toneOf(box)).value;
  const common = {
    class: 'graph-node',
    'data-box': box.id,
    'data-tone': tone,
    'data-faint': faint ? '' : undefined,
    tabIndex: inTabOrder ? 0 : -1,
    style: { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` },
    title: box.label,
  };
  const cell = box.cells.length === 1 ? box.cells[0] : undefined;
  if (!cell) {
    return (
      <button type="button" {...common} class="graph-node graph-group" onClick={onOpen}>
        <span class="graph-name">{box.label}</span>
        <Counts box={box} />
        <span class="unseen">: show each</span>
      </button>
    );
  }
  const job = cell.value;
  const timed = job.state === 'active' || job.finished_at !== null;
  return (
    <a
      {...common}
      href={jobPath(run, job.job_id)}
      aria-current={chosen ? 'true' : undefined}
      draggable={false}
    >
      <span class="graph-name">
        <bdi>{job.name}</bdi>
      </span>
      <span class="graph-about">
        <Status face={faceOfJob(job)} />
        {timed && job.started_at !== null && (
          <span class="graph-time">
            <Elapsed from={job.started_at} to={job.state === 'active' ? null : job.finished_at} />
          </span>
        )}
        {job.tries > 1 && <span class="graph-time">try {job.tries}</span>}
      </span>
    </a>
  );
}

/** How many of a group are in which state. */
function Counts({ box }: { box: DrawnBox }) {
  const faces = useComputed(() => {
    const counts = new Map<string, { face: ReturnType<typeof faceOfJob>; count: number }>();
    for (const cell of box.cells) {
      const face = faceOfJob(cell.value);
      const known = counts.get(face.word);
      if (known) known.count++;
      else counts.set(face.word, { face, count: 1 });
    }
    return [...counts.values()];
  }).value;
  return (
    <span class="graph-about">
      {faces.map(({ face, count }) => (
        <span key={face.word} class="status" data-tone={face.tone}>
          <Icon face={face} />
          {count.toLocaleString()}
          <span class="unseen">{face.word}</span>
        </span>
      ))}
    </span>
  );
}
