// wfg help: what there is, and how each command is used.
import type { Command, LoadCommand } from '../command.ts';
import { EXIT, usage } from '../exit-error.ts';
import { print } from '../output.ts';

/** Help about the given commands and itself. */
export function helpFor(commands: ReadonlyMap<string, LoadCommand>): Command {
  return {
    usage: '[COMMAND]',
    summary: 'show this, or how a command is used',
    options: {},
    arity: [0, 1],
    async run([name]) {
      print(name === undefined ? await overview(commands) : helpText(name, await load(commands, name)));
      return EXIT.ok;
    },
  };
}

function load(commands: ReadonlyMap<string, LoadCommand>, name: string): Promise<Command> {
  const command = commands.get(name);
  if (command === undefined) throw usage(`there is no command "${name}": see wfg help`);
  return command();
}

/** How one command is used. */
export function helpText(name: string, command: Command): string {
  const lines = [
    `usage: wfg ${name} ${command.usage}`.trimEnd(),
    '',
    sentence(command.summary),
    command.details,
  ];
  return `${lines.filter((line) => line !== undefined).join('\n')}\n`;
}

async function overview(commands: ReadonlyMap<string, LoadCommand>): Promise<string> {
  const width = Math.max(...[...commands.keys()].map((name) => name.length));
  const list = await Promise.all(
    [...commands].map(async ([name, command]) => `  ${name.padEnd(width)}  ${(await command()).summary}`),
  );
  return `wfg runs workflows on nothing but PostgreSQL.

usage: wfg COMMAND [ARGUMENTS]

${list.join('\n')}

--json, which all commands take, --url and --token may stand before the command too.
The server is the one of --url URL, else of WFG_URL, else the "wfg up" that runs on WFG_DATA_DIR (./.wfg).
Where it asks for a token: --token TOKEN, which others see in the list of processes, else WFG_TOKEN or WFG_TOKEN_FILE,
else, for a server on this machine, WFG_ADMIN_TOKEN or WFG_ADMIN_TOKEN_FILE.
Exit codes: 0 done, 1 the run failed, 2 wrong usage, 3 the server or database cannot be reached.
`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
