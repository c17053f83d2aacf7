// GET /docs: the document of the routes as a page, without script and with nothing from elsewhere.
import { createHash } from 'node:crypto';
import type { OpenAPIHono } from '@hono/zod-openapi';
import { html, raw } from 'hono/html';
import { type Bodies, Document, METHODS, type Operation, type Parameter } from './docs-document.ts';
import { type Html, shapeOf } from './docs-shape.ts';

const STYLE = `
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h2 { margin-top: 2.5rem; text-transform: capitalize; }
h3 { margin: 2rem 0 0.25rem; font-size: 1rem; overflow-wrap: anywhere; }
h3 b { text-transform: uppercase; }
table { border-collapse: collapse; width: 100%; }
td, th { border-top: 1px solid #8885; padding: 0.3rem 0.8rem 0.3rem 0; text-align: left; vertical-align: top; }
code, pre { font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
pre { background: #8881; padding: 0.6rem; margin: 0.3rem 0; }
:target { outline: 2px solid; outline-offset: 4px; }
`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Serves the document as a page. */
export function docsRoute(app: OpenAPIHono, document: () => unknown): void {
  let page: Html | undefined;
  app.get('/docs', async (c) =>
    c.html(await (page ??= pageOf(Document.parse(document()))), 200, {
      'content-security-policy': POLICY,
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    }),
  );
}

function pageOf({ info, paths, components: { schemas } }: Document): Html {
  const groups = Map.groupBy(Object.keys(paths), groupOf);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${info.title}: the HTTP interface</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<h1>${info.title}: the HTTP interface</h1>
<p>The same for programs: <a href="/openapi.json">/openapi.json</a></p>
<nav>${[...groups.keys(), 'shapes', 'errors'].map((name) => html`<a href="#${name}">${name}</a> `)}</nav>
${[...groups].map(([name, members]) => groupHtml(name, members, paths))}
<h2 id="shapes">shapes</h2>
${Object.entries(schemas).map(([name, schema]) => html`<h3 id="${name}">${name}</h3><pre>${shapeOf(schema)}</pre>`)}
<h2 id="errors">errors</h2>
<pre>${info.description}</pre>
</body>
</html>
`;
}

/** What the path is about: `/api/runs/{run}` is about runs. */
function groupOf(path: string): string {
  if (path.startsWith('/workflows')) return 'events';
  return /^\/api\/([a-z-]+)/.exec(path)?.[1] ?? 'process';
}

function groupHtml(name: string, members: readonly string[], paths: Document['paths']): Html {
  const routes = members.flatMap((path) =>
    METHODS.map((method) => {
      const operation = paths[path]?.[method];
      return operation ? routeHtml(method, path, operation) : '';
    }),
  );
  return html`<h2 id="${name}">${name}</h2>${routes}`;
}

function routeHtml(method: string, path: string, operation: Operation): Html {
  const { summary, parameters, requestBody, responses } = operation;
  return html`<h3><b>${method}</b> <code>${path}</code></h3>
<p>${summary}</p>
<table>
${parameters.map(parameterHtml)}
${requestBody ? rowHtml('body', bodiesHtml(requestBody.content)) : ''}
${Object.entries(responses).map(([status, { description, content }]) =>
  rowHtml(status === 'default' ? 'error' : status, [html`<div>${description}</div>`, ...bodiesHtml(content)]),
)}
</table>
`;
}

function parameterHtml({ name, in: place, required, description, schema }: Parameter): Html {
  const about = [place, ...(required ? ['required'] : []), ...(description ? [description] : [])].join(', ');
  return rowHtml(name, [html`<code>${shapeOf(schema)}</code> <span>${about}</span>`]);
}

function bodiesHtml(bodies: Bodies): Html[] {
  return Object.entries(bodies).map(
    ([type, { schema }]) => html`<div>${type}</div><pre>${shapeOf(schema)}</pre>`,
  );
}

function rowHtml(head: string, content: Html[]): Html {
  return html`<tr><th>${head}</th><td>${content}</td></tr>
`;
}
