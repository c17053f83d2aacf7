// A JSON schema as people write it down: `{ id: string, limit?: integer 1..500 }`, names leading to their shapes.
import { html } from 'hono/html';
import type { Schema } from './docs-document.ts';

export type Html = ReturnType<typeof html>;

/** The shape as the inside of a `pre`; `depth` is that of the object it stands in. */
export function shapeOf(schema: Schema, depth = 0): Html {
  const { $ref, anyOf, allOf, type } = schema;
  if ($ref !== undefined) {
    const name = $ref.split('/').at(-1);
    return html`<a href="#${name}">${name}</a>`;
  }
  if (schema.enum)
    return joined(
      ' | ',
      schema.enum.map((value) => html`${JSON.stringify(value)}`),
    );
  if (anyOf)
    return joined(
      ' | ',
      anyOf.map((one) => shapeOf(one, depth)),
    );
  if (allOf)
    return joined(
      ' & ',
      allOf.map((one) => shapeOf(one, depth)),
    );
  if (type.length === 0) return html`any`;
  return joined(
    ' | ',
    type.map((name) => typeHtml(name, schema, depth)),
  );
}

function typeHtml(type: string, schema: Schema, depth: number): Html {
  if (type === 'object') return objectHtml(schema, depth);
  if (type === 'array') return html`array of ${schema.items ? shapeOf(schema.items, depth) : 'any'}`;
  if (type === 'string') {
    const rule = schema.format ?? (schema.pattern === undefined ? '' : `/${schema.pattern}/`);
    return html`string${rule && ` ${rule}`}`;
  }
  const { minimum, maximum } = schema;
  const isBound = type !== 'null' && (minimum !== undefined || maximum !== undefined);
  return html`${type}${isBound ? ` ${minimum ?? ''}..${maximum ?? ''}` : ''}`;
}

function objectHtml({ properties = {}, additionalProperties, required }: Schema, depth: number): Html {
  const fields = Object.entries(properties).map(
    ([name, schema]) => html`${name}${required.includes(name) ? '' : '?'}: ${shapeOf(schema, depth + 1)}`,
  );
  if (typeof additionalProperties === 'object')
    fields.push(html`[name]: ${shapeOf(additionalProperties, depth + 1)}`);
  if (fields.length === 0) return html`{}`;
  const newline = `\n${'  '.repeat(depth)}`;
  return html`{${fields.map((field) => html`${newline}  ${field}`)}${newline}}`;
}

function joined(by: string, parts: Html[]): Html {
  return html`${parts.map((part, index) => (index === 0 ? part : html`${by}${part}`))}`;
}
