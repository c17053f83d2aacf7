// The parts of an OpenAPI document that its page shows.
import { z } from '@hono/zod-openapi';

export const METHODS = ['get', 'put', 'post', 'delete'] as const;

const Bound = z.number().optional();

export const Schema = z.object({
  $ref: z.string().optional(),
  type: z.union([z.string().transform((type) => [type]), z.array(z.string())]).default([]),
  enum: z.array(z.unknown()).optional(),
  format: z.string().optional(),
  pattern: z.string().optional(),
  minimum: Bound,
  maximum: Bound,
  required: z.array(z.string()).default([]),
  get properties() {
    return z.record(z.string(), Schema).optional();
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
  get allOf() {
    return z.array(Schema).optional();
  },
});
export type Schema = z.output<typeof Schema>;

const Bodies = z.record(z.string(), z.object({ schema: Schema })).default({});
export type Bodies = z.output<typeof Bodies>;

const Parameter = z.object({
  name: z.string(),
  in: z.string(),
  required: z.boolean().default(false),
  description: z.string().optional(),
  schema: Schema,
});
export type Parameter = z.output<typeof Parameter>;

const Operation = z.object({
  summary: z.string(),
  parameters: z.array(Parameter).default([]),
  requestBody: z.object({ content: Bodies }).optional(),
  responses: z.record(z.string(), z.object({ description: z.string(), content: Bodies })),
});
export type Operation = z.output<typeof Operation>;

export const Document = z.object({
  info: z.object({ title: z.string(), description: z.string() }),
  paths: z.record(z.string(), z.partialRecord(z.enum(METHODS), Operation)),
  components: z.object({ schemas: z.record(z.string(), Schema) }),
});
export type Document = z.output<typeof Document>;
