// The files of the browser client, and its page for every path that the client routes by itself.
import { createReadStream } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { Readable } from 'node:stream';
import { errorCode } from '@wfg/shared/db/sqlstate';
import type { Context, Handler } from 'hono';
import { isApiPath } from './api-path.ts';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const NOT_BUILT =
  'The browser client is not built: run `npm run build`. The API is at /api, described by /openapi.json.\n';

interface StaticFile {
  path: string;
  size: number;
}

/** Serves the folder and nothing outside of it, whatever the path or a link in the folder says. */
export function serveClient(folder: string): Handler {
  return async (c) => {
    const { path } = c.req;
    const file = await findFile(folder, path === '/' ? '/index.html' : path);
    if (file)
      return send(c, file, path.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache');
    const isPage = !isApiPath(path) && c.req.header('accept')?.includes('text/html');
    if (!isPage) return c.notFound();
    const page = await findFile(folder, '/index.html');
    return page ? send(c, page, 'no-cache') : c.text(NOT_BUILT, 503);
  };
}

/** What a path that names no file, or no possible file, comes to. */
const NO_FILE: ReadonlySet<string | undefined> = new Set([
  'ENOENT',
  'ENOTDIR',
  'ENAMETOOLONG',
  'ERR_INVALID_ARG_VALUE',
]);

async function findFile(folder: string, path: string): Promise<StaticFile | null> {
  try {
    const root = await realpath(folder);
    const found = await realpath(join(root, path));
    const info = await stat(found);
    return found.startsWith(root + sep) && info.isFile() ? { path: found, size: info.size } : null;
  } catch (err) {
    if (NO_FILE.has(errorCode(err))) return null;
    throw err;
  }
}

function send(c: Context, { path, size }: StaticFile, caching: string): Response {
  const headers = {
    'content-type': TYPES[extname(path)] ?? 'application/octet-stream',
    'content-length': String(size),
    'cache-control': caching,
    'content-security-policy': POLICY,
    'referrer-policy': 'same-origin',
  };
  // Nobody reads the body of a HEAD, and nobody would close the file.
  if (c.req.method === 'HEAD') return c.body(null, 200, headers);
  return c.body(Readable.toWeb(createReadStream(path)), 200, headers);
}
