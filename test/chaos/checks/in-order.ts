// A job began only after all that it needs had ended.
import { attemptOf, type History, jobOf } from '../history.ts';

export function inOrder({ items, marks, attempts }: History): string[] {
  const starts = Map.groupBy(
    marks.filter(({ what }) => what === 'start'),
    jobOf,
  );
  const ended = new Map(
    attempts.filter(({ outcome }) => outcome === 'completed').map((row) => [jobOf(row), row]),
  );
  return items.flatMap(({ run, jobs }) =>
    Object.entries(jobs).flatMap(([job, { needs }]) =>
      (starts.get(jobOf({ run, job })) ?? []).flatMap((start) =>
        needs
          // The file has whole milliseconds.
          .filter((need) => !((ended.get(jobOf({ run, job: need }))?.finished_at ?? Infinity) < start.at + 1))
          .map((need) => `${attemptOf(start)}: began before ${need} had completed`),
      ),
    ),
  );
}
