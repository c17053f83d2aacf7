// Which server a command talks to: --url, else WFG_URL, else the `wfg up` that runs here.
import { EXIT, ExitError, usage } from './exit-error.ts';
import { isAlive, readUpFile } from './up-file.ts';

/** The server's base URL, always with a slash at its end. */
export function serverUrl(option: string | undefined, env: NodeJS.ProcessEnv): URL {
  if (option !== undefined) return parse('--url', option);
  if (env.WFG_URL) return parse('WFG_URL', env.WFG_URL);
  const up = readUpFile(env.WFG_DATA_DIR || './.wfg');
  if (up === undefined || !isAlive(up)) {
    throw new ExitError(
      EXIT.unreachable,
      'no wfg is running here: start it with "npm start" or "wfg up", or name a server with --url or WFG_URL',
    );
  }
  if (up.url === null)
    throw new ExitError(EXIT.unreachable, 'wfg is still starting here: try again in a moment');
  return parse('up.json', up.url);
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
