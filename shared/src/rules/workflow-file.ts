// Reads the text of a workflow file, YAML or JSON, and says where in it a fault is.
import { type Document, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { type Issue, WfgError } from '../contract/problem.ts';
import type { Definition } from '../contract/definition.ts';
import { defineWorkflow } from './definition.ts';
import { messageOf } from './message-of.ts';

/**
 * The checked definition in a file's text. JSON is read as YAML 1.2, of which it is a subset, so both get line and
 * column (from 1) in each message.
 *
 * @throws {WfgError} malformed_yaml when it cannot be parsed; invalid_workflow, each issue with its place.
 */
export function readWorkflowFile(text: string): Definition {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const [error] = document.errors;
  const fault = error ? { at: error.pos[0], message: error.message } : repeatedKey(document);
  if (fault) {
    const { line, col } = lines.linePos(fault.at);
    throw new WfgError('malformed_yaml', `YAML parse error: line ${line}, column ${col}: ${fault.message}`);
  }
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 1_000 });
  } catch (error) {
    throw new WfgError('malformed_yaml', `YAML parse error: ${messageOf(error)}`);
  }
  try {
    return defineWorkflow(value);
  } catch (error) {
    if (!(error instanceof WfgError)) throw error;
    throw located(error, (path) => place(path));
  }

  /** Line and column of the node at the path, or of the nearest one above it. */
  function place(path: string[]): string {
    for (let depth = path.length; depth > 0; depth--) {
      const node = document.getIn(path.slice(0, depth), true);
      if (isNode(node) && node.range) {
        const { line, col } = lines.linePos(node.range[0]);
        return `line ${line}, column ${col}: `;
      }
    }
    return '';
  }
}

/** A key that stands twice in a map. The parser's own check compares each key with each: minutes for 100,000. */
function repeatedKey(document: Document): { at: number; message: string } | null {
  let found: { at: number; message: string } | null = null;
  visit(document, {
    Map(_, map) {
      const keys = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (keys.has(key.value)) {
          found = { at: key.range?.[0] ?? 0, message: `the key "${String(key.value)}" is there twice` };
          return visit.BREAK;
        }
        keys.add(key.value);
      }
      return undefined;
    },
  });
  return found;
}

function located(error: WfgError, place: (path: string[]) => string): WfgError {
  const issues = error.issues.map((issue): Issue => {
    return { path: issue.path, message: `${place(issue.path.split('.'))}${issue.message}` };
  });
  const [first] = error.issues;
  return new WfgError(error.code, `${place(first?.path.split('.') ?? [])}${error.message}`, issues);
}
