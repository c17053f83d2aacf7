// The parts of /openapi.json that input is generated from.
import { z } from 'zod';

export const Schema = z.object({
  $ref: z.string().optional(),
  type: z.union([z.string().transform((type) => [type]), z.array(z.string())]).default([]),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  format: z.string().optional(),
  pattern: z.string().optional(),
  minimum: z.number().default(0),
  maximum: z.number().optional(),
  required: z.array(z.string()).default([]),
  get properties() {
    return z.record(z.string(), Schema).default({});
  },
  get additionalProperties() {
    return z.union([z.boolean(), Schema]).optional();
  },
  get items() {
    return Schema.optional();
  },
  get anyOf() {
    return z.array(Schema).optional();
  },
  get oneOf() {
    return z.array(Schema).optional();
  },
  get allOf() {
    return z.array(Schema).optional();
  },
});
export type Schema = z.output<typeof Schema>;

const Bodies = z.record(z.string(), z.object({ schema: Schema }));

const Parameter = z.object({
  name: z.string(),
  in: z.enum(['path', 'query', 'header', 'cookie']),
  schema: Schema,
});
export type Parameter = z.output<typeof Parameter>;

const Operation = z.object({
  parameters: z.array(Parameter).default([]),
  requestBody: z.object({ content: Bodies }).default({ content: {} }),
  responses: z.record(z.string(), z.unknown()),
});

const Document = z.object({
  info: z.object({ description: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ schemas: z.record(z.string(), Schema) }),
});

export interface Operation {
  /** `POST /api/runs` */
  name: string;
  method: string;
  path: string;
  parameters: Parameter[];
  /** By its media type. */
  bodies: Record<string, Schema>;
  /** Those it is to answer with, but for refusals. */
  statuses: string[];
}

export interface Interface {
  operations: Operation[];
  /** What a $ref leads to. */
  shape: (ref: string) => Schema;
  /** The status of each code of a problem, as the document tells them. */
  codes: Map<string, number>;
}

/** Reads the document; operations that make something stand before those that need it. */
export function readInterface(document: unknown): Interface {
  const { info, paths, components } = Document.parse(document);
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { parameters, requestBody, responses }]): Operation => ({
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        path,
        parameters,
        bodies: Object.fromEntries(
          Object.entries(requestBody.content).map(([type, { schema }]) => [type, schema]),
        ),
        statuses: Object.keys(responses),
      }),
    ),
  );
  const order = ['PUT', 'POST', 'GET', 'DELETE'];
  return {
    operations: operations.toSorted((a, b) => order.indexOf(a.method) - order.indexOf(b.method)),
    shape(ref) {
      const schema = components.schemas[ref.split('/').at(-1) ?? ''];
      if (!schema) throw new Error(`the document has no ${ref}`);
      return schema;
    },
    codes: new Map(
      [...info.description.matchAll(/^- `(\w+)` \((\d+)\)/gm)].map(([, code = '', status]) => [
        code,
        Number(status),
      ]),
    ),
  };
}
