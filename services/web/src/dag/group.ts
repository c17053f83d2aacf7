// Boxes of a graph: a job each, or many alike ones together, so that a matrix of a thousand does not hide the rest. Pure.
import type { Job } from '@wfg/shared/contract/job';
import type { Vertex } from './layers.ts';

/** So many with the same parents and the same children are one box until the reader opens it. */
export const GROUP_FROM = 40;

export interface Box extends Vertex {
  /** Ids of its jobs, one unless it is a group. */
  jobs: readonly string[];
}

/** `opened` has the ids of groups that are shown job by job. */
export function boxesOf(
  jobs: readonly Pick<Job, 'job_id' | 'depends_on'>[],
  opened: ReadonlySet<string>,
): Box[] {
  const children = new Map<string, string[]>();
  for (const { job_id, depends_on } of jobs) {
    for (const parent of depends_on) {
      const known = children.get(parent);
      if (known) known.push(job_id);
      else children.set(parent, [job_id]);
    }
  }
  const kin = ({ job_id, depends_on }: Pick<Job, 'job_id' | 'depends_on'>) =>
    JSON.stringify([depends_on.toSorted(), children.get(job_id) ?? []]);
  const families = Map.groupBy(jobs, kin);
  const boxOf = new Map<string, string>();
  const boxes: { id: string; jobs: string[]; depends_on: readonly string[] }[] = [];
  for (const family of families.values()) {
    const first = family[0];
    if (!first) continue;
    const id = groupId(first.job_id);
    const isGroup = family.length >= GROUP_FROM && !opened.has(id);
    for (const { job_id, depends_on } of family) {
      boxOf.set(job_id, isGroup ? id : job_id);
      if (!isGroup) boxes.push({ id: job_id, jobs: [job_id], depends_on });
    }
    const ids = family.map(({ job_id }) => job_id);
    if (isGroup) boxes.push({ id, jobs: ids, depends_on: first.depends_on });
  }
  return boxes.map(({ id, jobs: own, depends_on }) => ({
    id,
    jobs: own,
    needs: [...new Set(depends_on.flatMap((need) => boxOf.get(need) ?? []))],
  }));
}

/** Of the group whose first job that is; no job has such an id. */
export function groupId(job: string): string {
  return `group of ${job}`;
}

/** What names of a group have in common at their beginning, without what separates it from the rest. */
export function commonName(names: readonly string[]): string {
  const [first = '', ...rest] = names;
  let length = first.length;
  for (const name of rest) while (!name.startsWith(first.slice(0, length))) length--;
  return first.slice(0, length).replace(/[\s\-_.:/#(]*\d*$/, '');
}
