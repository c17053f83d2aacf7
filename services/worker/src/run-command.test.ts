import { readdir, rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { quiet, type Ran, run } from './command.fixture.ts';
import type { LogChunk } from './log-writer.ts';
import { createSpawner, type Spawner } from './spawner.ts';

let spawner: Spawner;
beforeAll(() => void (spawner = createSpawner({ log: quiet })));
afterAll(() => spawner[Symbol.asyncDispose]());

const step = (label: string, text: string) => ({
  label,
  run: text,
  env: {},
  timeout: null,
  on_success: true,
  on_failure: false,
});
const last = ({ chunks }: Ran) => chunks.at(-1);

describe('a plain run', () => {
  test('has its exit code and its output, from both streams', async () => {
    const ran = await run(
      spawner,
      'echo out; echo err >&2; echo again > /dev/stderr; echo more >> /dev/stdout',
    );
    expect(ran).toMatchObject({ outcome: 'completed', exitCode: 0, signal: null, error: null, outputs: {} });
    expect(ran).toMatchObject({ stdout: 'out\nmore\n', stderr: 'err\nagain\n' });
  });

  test('goes on after a command that failed, as a shell does', async () => {
    expect(await run(spawner, 'false\necho on\n')).toMatchObject({ outcome: 'completed', stdout: 'on\n' });
  });

  test('has an empty folder, a home and no input', async () => {
    const ran = await run(spawner, 'cat; ls -A; test -w "$HOME" && test -w "$TMPDIR" && echo "home:$0"');
    expect(ran).toMatchObject({ outcome: 'completed', stdout: 'home:sh\n'.replace('sh', '/bin/sh') });
  });

  test('may begin with a dash, and be longer than an argument may be', async () => {
    expect(await run(spawner, '-x || echo dash')).toMatchObject({ stdout: 'dash\n' });
    expect(await run(spawner, `# ${'x'.repeat(200_000)}\necho long`)).toMatchObject({ stdout: 'long\n' });
  });

  test('that fails tells its exit code and the last of its output', async () => {
    const ran = await run(spawner, `head -c 5000 /dev/zero | tr '\\0' x; echo end >&2; exit 3`);
    expect(ran).toMatchObject({ outcome: 'failed', exitCode: 3, signal: null });
    expect(ran.error).toMatch(/^exit code 3: x{4092}end\n$/);
  });

  test('reads the outputs of its upstream jobs', async () => {
    const upstream = { 'unit-tests': { coverage: '93' } };
    const ran = await run(spawner, { run: 'echo $WFG_OUT_UNIT_TESTS_COVERAGE; cat $WFG_UPSTREAM', upstream });
    expect(ran.stdout).toBe('93\n{"unit-tests":{"coverage":"93"}}');
  });
});

describe('the end of the output is not lost', () => {
  test('when 50,000 lines are followed by the exit', async () => {
    const ran = await run(spawner, 'seq 1 50000');
    expect(ran.stdout).toBe(Array.from({ length: 50_000 }, (_, index) => `${index + 1}\n`).join(''));
    expect(last(ran)).toMatchObject({ lines: 50_000, bytes: 288_894 });
  });

  test('when a program kills itself', async () => {
    const ran = await run(spawner, 'seq 1 50000; echo last; kill -9 $$');
    expect(ran).toMatchObject({ outcome: 'failed', exitCode: null, signal: 'SIGKILL' });
    expect(ran.error).toMatch(/^signal SIGKILL: [\d\n]{4091}last\n$/);
    expect(last(ran)?.lines).toBe(50_001);
  });

  test('when the sink is slow, which gets one chunk at a time', async () => {
    const got: LogChunk[] = [];
    let isBusy = false;
    const write = async (chunk: LogChunk) => {
      expect(isBusy).toBe(false);
      isBusy = true;
      await new Promise((resolve) => setTimeout(resolve, 5));
      got.push(chunk);
      isBusy = false;
    };
    await run(spawner, 'seq 1 300000', { log: { write } });
    expect(got.at(-1)).toMatchObject({ lines: 300_000, bytes: 1_988_895 });
  });

  test('when a helper still passes it on', async () => {
    const ran = await run(spawner, `bash -c 'exec > >(tee log); seq 1 1000'`);
    expect(ran.stdout.endsWith('999\n1000\n')).toBe(true);
  });
});

test('output that no database takes is made visible', async () => {
  const ran = await run(
    spawner,
    `printf 'nul \\000 bad \\377 bar 1%%\\r2%%\\n'; head -c 10000000 /dev/zero | tr '\\0' z`,
  );
  expect(ran.stdout.slice(0, 23)).toBe('nul \u2400 bad \uFFFD bar 1%\r2%\nz');
  expect(ran.chunks.length).toBeLessThan(1_000);
  expect(last(ran)?.lines).toBe(2);
});

test('the limit of the log is said in it, and the job goes on', async () => {
  const ran = await run(spawner, 'seq 1 100000; echo "::set-output a=b"', { logMaxBytes: 100_000 });
  expect(ran).toMatchObject({ outcome: 'completed', outputs: { a: 'b' } });
  expect(last(ran)?.data).toMatch(
    /^\n?\[wfg\] log limit of 100000 bytes reached; later output is dropped\n$/,
  );
});

describe('steps', () => {
  test('share a folder and outputs, and nothing else', async () => {
    const ran = await run(spawner, {
      env: { X: 'job' },
      steps: [
        {
          ...step('one', 'X=changed; export X; touch file; cd /; echo a=1 >> $WFG_OUTPUT'),
          env: { X: 'step' },
        },
        step('step 2', 'echo $X; ls; echo b=2 >> $WFG_OUTPUT; printf open'),
        step('it\'s "three"', 'echo end'),
      ],
    });
    expect(ran.stdout).toBe('=== one ===\n=== step 2 ===\njob\nfile\nopen\n=== it\'s "three" ===\nend\n');
    expect(ran).toMatchObject({ outcome: 'completed', exitCode: 0, outputs: { a: '1', b: '2' } });
  });

  test('end with the first that fails, at its first error', async () => {
    const steps = [step('one', 'echo 1'), step('two', 'false\necho no'), step('three', 'echo no')];
    const ran = await run(spawner, { run: 'echo no', steps });
    expect(ran).toMatchObject({ outcome: 'failed', exitCode: 1, error: 'exit code 1: 1\n' });
    expect(ran.stdout).toBe('=== one ===\n1\n=== two ===\n');
  });

  test('find what an earlier one left running', async () => {
    const server = 'mkfifo pipe; (read -r line < pipe; echo "got $line"; echo ok > answer) &';
    const ask = 'echo hello > pipe; until test -s answer; do sleep 0.01; done; cat answer';
    const ran = await run(spawner, { steps: [step('serve', server), step('ask', ask)] });
    expect(ran).toMatchObject({ outcome: 'completed' });
    expect(ran.stdout).toBe('=== serve ===\n=== ask ===\ngot hello\nok\n');
  });
});

describe('outputs', () => {
  test('come from stdout and from the file, which wins', async () => {
    const ran = await run(
      spawner,
      `echo '::set-output a=x=y'; echo '::set-output b=1'; printf 'b=2\\nnotes<<E\\n1\\n2\\nE\\n' > $WFG_OUTPUT`,
    );
    expect(ran.outputs).toEqual({ a: 'x=y', b: '2', notes: '1\n2' });
  });

  test('that are too large, or not readable, fail the job with that reason', async () => {
    const large = await run(spawner, `(printf a=; head -c 1048576 /dev/zero | tr '\\0' x) > $WFG_OUTPUT`);
    expect(large).toMatchObject({ outcome: 'failed', exitCode: 0, outputs: {} });
    expect(large.error).toMatch(/^outputs are larger than 1 MiB in all/);
    const bad = await run(spawner, 'echo nonsense > $WFG_OUTPUT');
    expect(bad.error).toBe('WFG_OUTPUT, line 1: must be KEY=VALUE or KEY<<DELIMITER');
  });
});

describe('masked values', () => {
  test('leave the worker in no way', async () => {
    const ran = await run(spawner, {
      env: { TOKEN: 'correct horse\nbattery staple\n' },
      mask: ['TOKEN'],
      run: `printf %s "$TOKEN" | while IFS= read -r line; do
          for i in $(seq 1 \${#line}); do printf %s "$line" | cut -c $i | tr -d '\\n'; sleep 0.01; done; echo; done
        echo "$TOKEN" | base64 >&2
        echo "::set-output token=$TOKEN"; echo ::set-output ok=1
        echo ::add-mask::added-later; echo "now added-later"; exit 9`,
    });
    expect(ran.stdout).toBe(
      `***
::set-output token=***

::set-output ok=1
::add-mask::***
now ***
[wfg] output token holds a masked value and is not passed on
`,
    );
    expect(ran.stderr).toBe('***\n');
    expect(ran.outputs).toEqual({ ok: '1' });
    // Only the line that came by stderr may stand behind the last one of stdout: they are two pipes.
    expect(ran.error).toMatch(/^exit code 9: .*now \*\*\*\n(?:\*\*\*\n)?$/s);
    expect(ran.error).not.toMatch(/correct|battery|added/);
  });
});

describe('what cannot be started', () => {
  test.each([
    [{ BIG: 'x'.repeat(131_072) }, 'env BIG is longer than 128 KiB: pass long values by file'],
    [
      Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`V${index}`, 'x'.repeat(100_000)])),
      'cannot start the command: environment and command are too large together: pass long values by file (E2BIG)',
    ],
  ])('fails with a clear error', async (env, error) => {
    const ran = await run(spawner, { run: 'true', env });
    expect(ran).toMatchObject({ outcome: 'failed', exitCode: null, signal: null, error, outputs: {} });
  });
});

describe('a worker without its folder', () => {
  test('starts nothing, until it has another', async () => {
    await using own = createSpawner({ log: quiet });
    await run(own, 'true');
    await rm(own.baseDir(), { recursive: true });
    await expect(run(own, 'true')).rejects.toThrow('ENOENT');
    own.renew();
    expect(await run(own, 'echo on')).toMatchObject({ outcome: 'completed', stdout: 'on\n' });
  });

  test('fails a job of which something has run', async () => {
    await using own = createSpawner({ log: quiet });
    const ran = await run(own, { steps: [step('one', 'rm -r "$PWD"'), step('two', 'echo no')] });
    expect(ran).toMatchObject({ outcome: 'failed', error: expect.stringMatching(/^cannot start .*ENOENT/) });
  });
});

test('nothing is left on disk, not even of folders made read-only', async () => {
  await run(spawner, 'mkdir -p a/b ~/c; touch a/b/file; chmod 500 a/b; chmod 0 a');
  const left = await readdir(spawner.baseDir());
  expect(left.filter((name) => !name.startsWith('fifo-'))).toEqual([]);
});
