// The result of the matrix: a table for people, and the page that is committed.
import { availableParallelism } from 'node:os';

export interface Row {
  fault: string;
  load: string;
  offered: number;
  perSec: number;
  /** Ended within the time, from 0 to 1. */
  share: number;
  lost: number;
  doubled: number;
  lostLines: number;
  /** Attempts that were taken back. */
  lostAttempts: number;
  recoverSecs: number;
}

const HEAD = [
  'fault',
  'load',
  'offered',
  'a second',
  'in time',
  'lost',
  'doubled',
  'lost lines',
  'attempts lost',
  'recovered in',
];

export function tableOf(rows: readonly Row[]): string {
  return table(rows.map(lineOf));
}

function table(lines: readonly string[]): string {
  return [lineFrom(HEAD), lineFrom(HEAD.map(() => '---')), ...lines].join('');
}

function lineOf(row: Row): string {
  return lineFrom([
    row.fault,
    row.load,
    String(row.offered),
    row.perSec.toFixed(0),
    // Rounding must not make it 100.
    `${Math.floor(row.share * 1_000) / 10} %`,
    String(row.lost),
    String(row.doubled),
    String(row.lostLines),
    String(row.lostAttempts),
    `${row.recoverSecs.toFixed(1)} s`,
  ]);
}

function lineFrom(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |\n`;
}

/** Of a fault and a load, and whether it was run now: then what the page had of it is old. */
export interface Pair extends Pick<Row, 'fault' | 'load'> {
  isRun: boolean;
}

/** The page with these rows in place of those that it had of the same pairs, in the order of all. */
export function pageOf(
  page: string,
  rows: readonly Row[],
  pairs: readonly Pair[],
  postgresVersion: string,
): string {
  const known = page.split(/(?<=\n)/);
  const lines = pairs.flatMap((pair) => {
    const row = rows.find(({ fault, load }) => fault === pair.fault && load === pair.load);
    if (row) return lineOf(row);
    return pair.isRun ? [] : known.filter((line) => line.startsWith(`| ${pair.fault} | ${pair.load} |`));
  });
  const node = process.version.slice(1);
  return `# What faults do to wfg under load

Written by \`npm run chaos\`, each row when it was last run: PostgreSQL ${postgresVersion} (fsync on), Node ${node}, ${availableParallelism()} cores for
everything: database, one api and reaper, two schedulers and workers, and the test. Leases are 3 s.

Each load is offered at half of what the cluster was measured to do, from 2 s before the fault until 2 s after it, and
longer until 20 jobs have come of it. One job in ten takes 3.5 s, one in ten fails once, one in twenty-five fails each time,
and one in twenty-five is cancelled after a second. *In time*: ended at most 13 s after the fault did. *Lost*, *doubled*: what the checks of \`test/chaos/checks\` found of
jobs that did not end as they had to, or were made or executed more often than a lease allows. *Lost lines*: of the logs of
attempts that came to their end. *Attempts lost*: taken back from workers, and done again; only where a worker died or
stood still may there be any. *Recovered in*: from the fault's end until all had ended that was accepted before.

${table(lines)}`;
}
