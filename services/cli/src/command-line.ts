// Which command a command line means, wherever its options stand.

interface CommandLine {
  name: string;
  args: string[];
}

/** Options that nearly all commands take, and whether a value follows as an argument of its own. */
const LEADING: ReadonlyMap<string, boolean> = new Map([
  ['--url', true],
  ['--token', true],
  ['--json', false],
]);

/** `--url URL`, `--token TOKEN` and `--json` before the command count as if they stood behind it. */
export function readCommandLine(argv: readonly string[]): CommandLine {
  let at = 0;
  for (let arg = argv[at]; arg !== undefined; arg = argv[at]) {
    const [option = '', value] = arg.split('=', 2);
    const takesValue = LEADING.get(option);
    if (takesValue === undefined) break;
    at += takesValue && value === undefined ? 2 : 1;
  }
  const [name, ...args] = argv.slice(at);
  return name === undefined ? { name: 'help', args: [] } : { name, args: [...argv.slice(0, at), ...args] };
}
