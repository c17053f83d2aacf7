// Which server a command talks to: --url, else WFG_URL, else the `wfg up` that runs here.
import { dirname, join } from 'node:path';
import { EXIT, ExitError, usage } from './exit-error.ts';
import { isAlive, readUpFile } from './up-file.ts';

/** The server's base URL, always with a slash at its end. */
export function serverUrl(option: string | undefined, env: NodeJS.ProcessEnv, folder = process.cwd()): URL {
  if (option !== undefined) return parse('--url', option);
  if (env.WFG_URL) return parse('WFG_URL', env.WFG_URL);
  const up = dataDirs(env, folder)
    .map(readUpFile)
    .find((found) => found !== undefined && isAlive(found));
  if (up === undefined) {
    const where = env.WFG_DATA_DIR
      ? `with its data in ${env.WFG_DATA_DIR}`
      : 'in this folder or one above it';
    throw new ExitError(
      EXIT.unreachable,
      `no wfg is running ${where}: start it with "npm start" or "wfg up", or name a server with --url or WFG_URL`,
    );
  }
  if (up.url === null)
    throw new ExitError(EXIT.unreachable, 'wfg is still starting here: try again in a moment');
  return parse('up.json', up.url);
}

/** Where the data of a running `wfg up` may be: where it is said to be, else `.wfg` here or in a folder above. */
function dataDirs(env: NodeJS.ProcessEnv, folder: string): string[] {
  if (env.WFG_DATA_DIR) return [env.WFG_DATA_DIR];
  const dirs: string[] = [];
  for (let dir = folder, above = ''; dir !== above; above = dir, dir = dirname(dir))
    dirs.push(join(dir, '.wfg'));
  return dirs;
}

function parse(source: string, text: string): URL {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw usage(`${source} must be a URL like http://127.0.0.1:3000, and is "${text}"`);
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  url.search = '';
  url.hash = '';
  return url;
}
