// What `wfg up` prints: the lines of all its services, each behind the name of who said it.
import { styleText } from 'node:util';
import { isShown, readServiceLine, type ServiceLine } from '../service-line.ts';
import { jsonLine, terminalLine, terminalSafe } from '../terminal-safe.ts';

export interface Printer {
  /** Prints a line that `name` logged, if its level is wanted; returns what it said. */
  line: (name: string, line: string) => ServiceLine;
  /** Says where the api is, so that nobody misses it, and in which file the address of the database. */
  ready: (url: string, databaseFile: string | null) => void;
}

interface PrinterSettings {
  /** Of all that will print, for the width of the column. */
  names: readonly string[];
  /** The least level that is shown. */
  level: string;
  /** Lines are passed on as the services write them. */
  json: boolean;
  write: (text: string) => void;
  /** What is printed must not take it over; whether it gets colours, the environment says (NO_COLOR). */
  isTerminal: boolean;
}

const NAME_COLOURS = ['cyan', 'yellow', 'magenta', 'green', 'blue', 'gray'] as const;

export function createPrinter({ names, level, json, write, isTerminal }: PrinterSettings): Printer {
  const width = Math.max(...names.map((name) => name.length));
  const styled = (style: Parameters<typeof styleText>[0], text: string) =>
    isTerminal ? styleText(style, text) : text;

  function put(name: string, said: ServiceLine): void {
    const colour = NAME_COLOURS[names.indexOf(name) % NAME_COLOURS.length] ?? 'gray';
    const prefix = styled(colour, `${name.padEnd(width)} |`);
    const time = said.time === '' ? '' : `${styled('dim', said.time)} `;
    write(
      said.text
        .split('\n')
        .map(terminalLine)
        .map((text, index) => `${prefix} ${index === 0 ? time + marked(said.level, text) : text}\n`)
        .join(''),
    );
  }

  function marked(lineLevel: string, text: string): string {
    if (lineLevel === 'warn') return styled('yellow', `warning: ${text}`);
    if (lineLevel === 'error' || lineLevel === 'fatal') return styled('red', `error: ${text}`);
    return text;
  }

  return {
    line(name, line) {
      const said = readServiceLine(line);
      if (isShown(said.level, level)) {
        if (json) write(`${isTerminal ? terminalSafe(line) : line}\n`);
        else put(name, said);
      }
      return said;
    },
    ready(url, databaseFile) {
      const time = new Date().toISOString();
      const database_file = databaseFile ?? undefined;
      const line = jsonLine({ level: 'info', time, service: 'wfg', msg: 'ready', url, database_file });
      const psql = databaseFile === null ? '' : `  its database:  psql "$(cat ${shellWord(databaseFile)})"\n`;
      write(json ? line : `\n  ${styled('bold', `wfg is ready: ${url}`)}\n${psql}\n`);
    },
  };
}

/** As a shell takes it for one word. */
function shellWord(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
