// Loads a module of handlers.
import { pathToFileURL } from 'node:url';
import { definitionsIn, type EventDefinition } from '../handlers/define-event.ts';

/** The handlers that the file (an absolute path) exports, by type. Rejects with what the module throws, or lacks. */
export async function loadModule(path: string): Promise<Map<string, EventDefinition>> {
  const exports: unknown = await import(pathToFileURL(path).href);
  const definitions = definitionsIn(Object(exports));
  if (definitions.length === 0) throw new Error('it exports no handler: export what defineEvent returns');
  const byType = new Map<string, EventDefinition>();
  for (const definition of definitions) {
    const other = byType.get(definition.type);
    // One definition may be exported twice, by name and as a part of an array.
    if (other && other !== definition)
      throw new Error(`it exports two handlers of the type ${definition.type}`);
    byType.set(definition.type, definition);
  }
  return byType;
}
