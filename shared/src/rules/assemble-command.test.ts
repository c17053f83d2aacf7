// What is assembled is really run, by each shell there is.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { Step } from '../contract/command.ts';
import { assembleCommand } from './assemble-command.ts';

const SHELLS = ['sh', 'dash', 'bash', 'busybox sh'].filter((shell) => run(shell, 'exit 0').code === 0);
const folder = mkdtempSync(join(tmpdir(), 'wfg-assemble-'));

afterAll(() => rmSync(folder, { recursive: true }));

interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

function run(shell: string, command: string): Ran {
  const [program = '', ...args] = shell.split(' ');
  const env = { PATH: process.env.PATH };
  const done = spawnSync(program, [...args, '-c', command], {
    encoding: 'utf8',
    env,
    cwd: tmpdir(),
    // bash takes a socket for a remote shell, and reads its start-up file.
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { code: done.status, stdout: done.stdout, stderr: done.stderr };
}

function step(run: string, more: Partial<Step> = {}): Step {
  return { label: 's', run, env: {}, timeout: null, on_success: true, on_failure: false, ...more };
}

const steps = (...steps: Step[]) => assembleCommand({}, { run: null, steps });

/** Characters that mean something to a shell, and what is longer than a byte. */
const Text = fc.oneof(
  fc.string({
    unit: fc.constantFrom("'", '"', '\\', '$', '`', '\n', '\r', ' ', '-', '#', ';', '!', '*', 'é', '🦊'),
  }),
  fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', '')),
  fc.constantFrom('-e', '-n', '--', '-', "'", "\\'", '$(exit 3)', '\n', 'a\n\n'),
);
const Name = fc.stringMatching(/^[A-Z_]{1,3}X[0-9]{0,2}$/);

const quoted = (text: string) => `'${text.replaceAll("'", `'"'"'`)}'`;

const print = (name: string) => `printf '%s|' "$${name}"`;

test('a command without variables is left as it is', () => {
  expect(assembleCommand({}, { run: 'echo "hi"\n', steps: null })).toBe('echo "hi"\n');
});

describe.each(SHELLS)('%s', (shell) => {
  test('variables have their values, whatever is in them', () => {
    fc.assert(
      fc.property(fc.dictionary(Name, Text), Text, (env, own) => {
        const names = Object.keys(env);
        const plain = run(shell, assembleCommand(env, { run: names.map(print).join('\n'), steps: null }));
        const expected = Object.values(env)
          .map((value) => `${value}|`)
          .join('');
        expect(plain).toEqual({ code: 0, stdout: expected, stderr: '' });
        const inStep = step([...names, 'own'].map(print).join(';'), { env: { own } });
        const { stdout } = run(shell, assembleCommand(env, { run: null, steps: [inStep] }));
        expect(stdout).toBe(`=== s ===\n${expected}${own}|`);
      }),
      { numRuns: 15 },
    );
  });

  test('steps print what they say below their banner, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ label: Text, text: Text }), { minLength: 1, maxLength: 3 }),
        (said) => {
          const written = said.map(({ label, text }) => step(`printf '%s\\n' ${quoted(text)}`, { label }));
          const expected = said.map(
            ({ label, text }) => `=== ${label.replaceAll(/[\r\n]+/g, ' ')} ===\n${text}\n`,
          );
          expect(run(shell, steps(...written))).toEqual({ code: 0, stdout: expected.join(''), stderr: '' });
        },
      ),
      { numRuns: 15 },
    );
  });

  test.each([
    ['a comment at the end', 'echo a # b', 'a\n'],
    ['a here document', "cat <<'END'\n$x ' \" \\\nEND", '$x \' " \\\n'],
    ['a here document that ends with the text', 'cat <<END\n1\nEND', '1\n'],
    ['several lines', 'for i in 1 2\ndo\n  echo $i\ndone', '1\n2\n'],
  ])('a step may be %s', (_, text, printed) => {
    const next = step('echo next', { label: 'n' });
    const { code, stdout } = run(shell, steps(step(text), next));
    expect({ code, stdout }).toEqual({ code: 0, stdout: `=== s ===\n${printed}=== n ===\nnext\n` });
  });

  test.each([
    ['exit 7', 7],
    ['false\necho not reached', 1],
    ['(exit 3); echo not reached', 3],
    ['-e not a command', 127],
  ])('%j fails and ends the job', (text, code) => {
    const ended = run(shell, steps(step(text), step('echo next')));
    expect(ended.code).toBe(code);
    expect(ended.stdout).toBe('=== s ===\n');
  });

  test.each(['echo "never closed', 'fi', 'echo (', 'if true; then'])(
    '%j fails when it is reached',
    (text) => {
      const ended = run(shell, steps(step('echo first'), step(text), step('echo next')));
      expect(ended.code).toBeGreaterThan(0);
      expect(ended.stdout).toBe('=== s ===\nfirst\n=== s ===\n');
    },
  );

  test('what a step sets does not reach the next', () => {
    const sets = step(`cd '${folder}'; A=1; export B=2; set +e; f() { :; }; umask 0; pwd`, {
      env: { C: '3' },
    });
    const shows = step('pwd; echo "[$A$B$C]"; command -v f || echo none; false; echo not reached');
    const { code, stdout } = run(shell, steps(sets, shows));
    expect(code).toBe(1);
    expect(stdout.split('\n').slice(1)).toEqual([folder, '=== s ===', tmpdir(), '[]', 'none', '']);
  });

  test('the first failure is the end, whatever runs after it', () => {
    const always = { on_success: true, on_failure: true };
    const { code, stdout } = run(
      shell,
      steps(
        step('echo 1', always),
        step('exit 5', { label: 'fails' }),
        step('echo left out', { label: 'x' }),
        step('echo 3; exit 9', { ...always, label: 'always' }),
        step('echo 4; exit 2', { on_success: false, on_failure: true, label: 'on failure' }),
        step('echo never', { on_success: false, on_failure: false, label: 'x' }),
      ),
    );
    expect(code).toBe(5);
    expect(stdout).toBe('=== s ===\n1\n=== fails ===\n=== always ===\n3\n=== on failure ===\n4\n');
    const fine = steps(
      step('true'),
      step('echo no', { on_success: false, on_failure: true }),
      step('exit 4', always),
    );
    expect(run(shell, fine)).toMatchObject({ code: 4, stdout: '=== s ===\n=== s ===\n' });
  });

  test('a step may be longer than an argument', () => {
    const long = `echo start\n${'# '.padEnd(300_000, 'x')}\necho end`;
    const file = join(folder, 'long.sh');
    const written = steps(step(long));
    const [program = '', ...args] = shell.split(' ');
    writeFileSync(file, written);
    const done = spawnSync(program, [...args, file], { encoding: 'utf8' });
    expect(done.stdout).toBe('=== s ===\nstart\nend\n');
  });
});
