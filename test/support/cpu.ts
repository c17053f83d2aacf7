// What a process and all that it started have used of the CPU, from /proc.
import { readFileSync, readdirSync } from 'node:fs';

interface Row {
  parent: number;
  ticks: number;
}

/** The clock ticks, a hundredth of a second each, of a process and its living descendants. */
export function ticksOfTree(pid: number): number {
  const rows = new Map<number, Row>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const row = readRow(name);
    if (row) rows.set(Number(name), row);
  }
  const tree = new Set([pid]);
  // A set that grows while it is walked is walked to its end.
  for (const parent of tree) for (const [child, row] of rows) if (row.parent === parent) tree.add(child);
  return [...tree].reduce((sum, member) => sum + (rows.get(member)?.ticks ?? 0), 0);
}

function readRow(pid: string): Row | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in brackets may hold spaces: the fields count from the last one.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent = 0] = fields;
    // In user and system mode, its own and that of children that have ended.
    return { parent, ticks: fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0) };
  } catch {
    return undefined;
  }
}
