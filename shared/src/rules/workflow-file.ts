// Reads the text of a workflow file, YAML or JSON, and says where in it a fault is.
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml';
import type { Definition } from '../contract/definition.ts';
import { type Issue, WfgError } from '../contract/problem.ts';
import { defineWorkflow } from './definition.ts';
import { messageOf } from './message-of.ts';

/**
 * The checked definition in a file's text.
 *
 * @throws {WfgError} malformed_yaml when it cannot be parsed; invalid_workflow, each issue with its place.
 */
export function readWorkflowFile(text: string): Definition {
  const { content, place } = parseWorkflowFile(text);
  try {
    return defineWorkflow(content);
  } catch (error) {
    throw error instanceof WfgError ? located(error, place) : error;
  }
}

interface ParsedFile {
  /** Unchecked; `JSON.stringify` keeps every digit in it. */
  content: unknown;
  /** `line 1, column 2: ` of what is at a dotted path; empty for an empty file. */
  place: (path: string) => string;
}

/**
 * JSON is read as YAML 1.2, of which it is a subset, so both have lines and columns, from 1.
 *
 * @throws {WfgError} malformed_yaml.
 */
export function parseWorkflowFile(text: string): ParsedFile {
  const lineCounter = new LineCounter();
  const placeAt = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset);
    return `line ${line}, column ${col}: `;
  };
  const document = parseDocument(text, {
    lineCounter,
    prettyErrors: false,
    uniqueKeys: false,
    intAsBigInt: true,
  });
  const error = document.errors[0] ?? document.warnings[0];
  const fault = error ? { at: error.pos[0], message: explain(error) } : keepAsWritten(document);
  if (fault) throw malformed(`${placeAt(fault.at)}${fault.message}`);
  const place = (path: string) => {
    const range = nodeAt(document, path)?.range;
    return range ? placeAt(range[0]) : '';
  };
  try {
    return { content: document.toJS({ maxAliasCount: 1_000 }), place };
  } catch (error) {
    throw malformed(messageOf(error));
  }
}

function malformed(message: string): WfgError {
  return new WfgError('malformed_yaml', `YAML parse error: ${message}`);
}

/** What to do, where the parser's words do not say it. */
const HINTS: Partial<Record<YAMLError['code'], string>> = {
  TAG_RESOLVE_FAILED: "put a text that begins with '!' in quotes",
  BLOCK_AS_IMPLICIT_KEY: "put a text with ': ' in it in quotes, or on a line of its own after '|'",
  BAD_SCALAR_START: 'put the text in quotes',
  TAB_AS_INDENT: 'use spaces',
};

function explain({ code, message }: YAMLError): string {
  if (code === 'RESOURCE_EXHAUSTION') return 'it is nested too deeply';
  if (code === 'MULTIPLE_DOCS')
    return 'another document begins here: put each workflow into a file of its own';
  const hint = HINTS[code];
  return hint === undefined ? message : `${message}: ${hint}`;
}

/**
 * Keys become the text they are written as (`007`), and integers plain numbers or, with too many digits for those, what
 * `stringify` writes as it was read. Returns the first key that stands twice in a map (the parser's own check compares
 * each key with each: minutes for 100,000), or alias that nothing before it is marked for.
 */
function keepAsWritten(document: Document): { at: number; message: string } | null {
  let found: { at: number; message: string } | null = null;
  const anchors = new Set<string>();
  const note = ({ anchor }: { anchor?: string }) => anchor !== undefined && anchors.add(anchor);
  visit(document, {
    Seq: (_, seq) => void note(seq),
    Alias(_, { source, range }) {
      if (anchors.has(source)) return undefined;
      found = { at: range?.[0] ?? 0, message: `nothing before *${source} is marked as &${source}` };
      return visit.BREAK;
    },
    Map(_, map) {
      note(map);
      const keys = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (typeof key.value !== 'string' && key.source !== undefined) key.value = key.source;
        if (keys.has(key.value)) {
          found = { at: key.range?.[0] ?? 0, message: `the key "${String(key.value)}" is there twice` };
          return visit.BREAK;
        }
        keys.add(key.value);
      }
      return undefined;
    },
    Scalar(_, scalar) {
      note(scalar);
      if (typeof scalar.value !== 'bigint') return;
      const number = Number(scalar.value);
      scalar.value = Number.isSafeInteger(number) ? number : JSON.rawJSON(String(scalar.value));
    },
  });
  return found;
}

/** The node at the dotted path, or the nearest one above it. A key may have dots in it: the longest that fits counts. */
function nodeAt(document: Document, path: string): Node | null {
  let node: unknown = document.contents;
  for (let rest = path; rest !== ''; ) {
    const key = keysOf(node)
      .filter((name) => rest === name || rest.startsWith(`${name}.`))
      .reduce((longest, name) => (name.length > longest.length ? name : longest), '');
    const inner: unknown = isMap(node) || isSeq(node) ? node.get(key, true) : undefined;
    const target = isAlias(inner) ? inner.resolve(document) : inner;
    if (!isNode(target)) break;
    node = target;
    rest = rest.slice(key.length + 1);
  }
  return isNode(node) ? node : null;
}

function keysOf(node: unknown): string[] {
  if (isSeq(node)) return node.items.map((_, index) => String(index));
  if (!isMap(node)) return [];
  return node.items.map(({ key }) => String(isScalar(key) ? key.value : key));
}

function located(error: WfgError, place: (path: string) => string): WfgError {
  const issues = error.issues.map(
    ({ path, message }): Issue => ({ path, message: `${place(path)}${message}` }),
  );
  return new WfgError(error.code, `${place(error.issues[0]?.path ?? '')}${error.message}`, issues);
}
