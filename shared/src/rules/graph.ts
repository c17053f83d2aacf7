// Dependencies between jobs: unknown names, duplicates, cycles.
import type { Issue } from '../contract/problem.ts';

/** A node by its name, and the names it depends on. */
export interface GraphNode {
  id: string;
  needs: readonly string[];
}

/**
 * Everything that is wrong with the dependencies; empty when they form a DAG. `path` names the place of a job's
 * dependencies in what the user wrote.
 */
export function graphIssues(
  nodes: readonly GraphNode[],
  path: (id: string, index: number) => string,
): Issue[] {
  const issues: Issue[] = [];
  const known = new Map<string, GraphNode>();
  for (const [index, node] of nodes.entries()) {
    if (known.has(node.id))
      issues.push({ path: path(node.id, index), message: `Job '${node.id}' appears twice` });
    known.set(node.id, node);
  }
  for (const [index, node] of nodes.entries()) {
    for (const need of node.needs) {
      if (known.has(need)) continue;
      issues.push({
        path: path(node.id, index),
        message: `Job '${node.id}' depends on '${need}', which doesn't exist`,
      });
    }
  }
  if (issues.length > 0) return issues;
  const cycle = findCycle(nodes);
  if (cycle) {
    const index = nodes.findIndex((node) => node.id === cycle[0]);
    issues.push({
      path: path(cycle[0] ?? '', index),
      message: `The jobs need each other in a circle: ${cycle.join(' -> ')}`,
    });
  }
  return issues;
}

/**
 * The names along one cycle, each needing the next, the first repeated last (`a -> b -> a`); or null. Kahn's algorithm leaves exactly the nodes
 * on cycles and behind them; from any of those, walking to an unresolved dependency must come back to itself.
 */
export function findCycle(nodes: readonly GraphNode[]): string[] | null {
  const open = new Map(nodes.map((node) => [node.id, new Set(node.needs)]));
  const dependants = new Map<string, string[]>();
  for (const node of nodes) {
    for (const need of new Set(node.needs)) {
      const list = dependants.get(need);
      if (list) list.push(node.id);
      else dependants.set(need, [node.id]);
    }
  }
  const ready = nodes.filter((node) => node.needs.length === 0).map((node) => node.id);
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    open.delete(id);
    for (const dependant of dependants.get(id) ?? []) {
      const needs = open.get(dependant);
      needs?.delete(id);
      if (needs?.size === 0) ready.push(dependant);
    }
  }
  let at = open.keys().next().value;
  const path = new Set<string>();
  while (at !== undefined && !path.has(at)) {
    path.add(at);
    at = open.get(at)?.values().next().value;
  }
  if (at === undefined) return null;
  const walked = [...path];
  return [...walked.slice(walked.indexOf(at)), at];
}
