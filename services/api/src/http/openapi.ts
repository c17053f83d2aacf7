// GET /openapi.json and its page /docs: made from the route definitions, with the error answer that every route shares.
import type { OpenAPIHono } from '@hono/zod-openapi';
import { Problem, PROBLEMS } from '@wfg/shared/contract/problem';
import { PUBLIC } from '../access/ask-for-token.ts';
import { docsRoute } from './docs.ts';
import { METHODS } from './docs-document.ts';

type ApiDocument = ReturnType<OpenAPIHono['getOpenAPI31Document']>;

/**
 * Serves the document, and the page, of all routes. They are made for the first who asks: no other part of a start
 * would take as long.
 */
export function openApiRoute(app: OpenAPIHono): void {
  let made: ApiDocument | undefined;
  const document = () => (made ??= documentOf(app));
  app.get('/openapi.json', (c) => c.json(document()));
  docsRoute(app, document);
}

function documentOf(app: OpenAPIHono): ApiDocument {
  app.openAPIRegistry.register('Problem', Problem);
  app.openAPIRegistry.registerComponent('securitySchemes', 'token', { type: 'http', scheme: 'bearer' });
  const document = app.getOpenAPI31Document({
    openapi: '3.1.0',
    security: [{ token: [] }],
    info: { title: 'wfg', version: '1', description: describeCodes() },
  });
  const problem = {
    description: 'An error; its code says which',
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  };
  for (const [path, routes] of Object.entries(document.paths ?? {})) {
    for (const method of METHODS) {
      Object.assign(routes[method]?.responses ?? {}, { default: problem });
      if (PUBLIC.has(path)) Object.assign(routes[method] ?? {}, { security: [] });
    }
  }
  return document;
}

function describeCodes(): string {
  const lines = Object.entries(PROBLEMS).map(
    ([code, { status, title }]) => `- \`${code}\` (${status}): ${title}`,
  );
  return `Errors are \`application/problem+json\` with one of these codes:\n\n${lines.join('\n')}`;
}
