// Loads a module of handlers.
import { pathToFileURL } from 'node:url';
import { isEventDefinition } from '@wfg/shared/sdk/define-event';
import { isTaskDefinition } from '@wfg/shared/sdk/define-task';
import { type Definition, labelOf } from './call.ts';

/**
 * The handlers and tasks that the file (an absolute path) exports, arrays of them included, by the labels of their jobs.
 * Rejects with what the module throws, or lacks.
 */
export async function loadModule(path: string): Promise<Map<string, Definition>> {
  const exports: unknown = await import(pathToFileURL(path).href);
  const definitions = Object.values(Object(exports)).flat().filter(isDefinition);
  if (definitions.length === 0)
    throw new Error('it exports no handler: export what defineEvent or defineTask returns');
  const byLabel = new Map<string, Definition>();
  for (const definition of definitions) {
    const label = labelOf(definition);
    const other = byLabel.get(label);
    // One definition may be exported twice, by name and as a part of an array.
    if (other && other !== definition) throw new Error(`it exports two handlers of ${label.slice(1)}`);
    byLabel.set(label, definition);
  }
  return byLabel;
}

function isDefinition(value: unknown): value is Definition {
  return isEventDefinition(value) || isTaskDefinition(value);
}
