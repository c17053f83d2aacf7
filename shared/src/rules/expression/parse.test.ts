// Whatever somebody writes as an expression, it is read or refused, and what is read can be evaluated or says why not.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ExpressionError } from './expression-error.ts';
import { type Facts, judge, type Submitted } from './judge.ts';
import { parseExpression } from './parse.ts';
import { parseTemplate } from './template.ts';

const SCOPE = { isNeeded: (job: string) => ['a', 'b-c', 'd.e'].includes(job), status: true };
const FACTS: Facts = {
  env: { A: 'x', N: '12' },
  needs: {
    a: { result: 'success', outputs: { json: '{"k":[1,"v",null]}', big: 'y'.repeat(1000) } },
    'b-c': { result: 'failure', outputs: {} },
    'd.e': { result: 'skipped', outputs: {} },
  },
  ancestors: { ok: true, failed: false },
  cancelled: false,
};

/** The fault, or null; anything but an ExpressionError is thrown. */
function faultOf(fn: () => unknown): string | null {
  try {
    fn();
    return null;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}
const refused = (text: string) => faultOf(() => parseExpression(text, SCOPE));
const judged = (job: Partial<Submitted>, facts = FACTS) =>
  judge({ condition: null, spec: null, payload: null, ...job }, facts);

const PIECES =
  `needs env a b-c . .* [ ] ( ) , ! == <= && || * ' '' success() always( format( fromJSON( toJSON(needs)
  constructor( __proto__ \${{ }} 'x' 1 - 0x .5 null true NaN result outputs ['d.e'] "`.split(/\s+/);

/** Pieces of expressions, in any order. */
const soup = fc
  .array(fc.oneof(fc.constantFrom(...PIECES, ' ', '\n', '\0'), fc.string({ maxLength: 5 })), {
    maxLength: 20,
  })
  .map((parts) => parts.join(''));

const LEAVES =
  `'x' '' 1 null true env.A env.N needs needs.a needs.*.result NaN needs.a.outputs.json needs.a.outputs.big
  needs['d.e'].outputs.none success()`.split(/\s+/);

/** Expressions that can be read. */
const { expression } = fc.letrec<{ expression: string }>((tie) => {
  const inner = tie('expression');
  const joined = (operator: string) => fc.tuple(inner, inner).map(([a, b]) => `(${a} ${operator} ${b})`);
  return {
    expression: fc.oneof(
      { maxDepth: 4, depthIdentifier: 'expression' },
      fc.constantFrom(...LEAVES),
      inner.map((a) => `!${a}`),
      fc.constantFrom('==', '!=', '<', '>=', '&&', '||').chain(joined),
      fc.constantFrom('toJSON', 'fromJSON', 'join').chain((name) => inner.map((a) => `${name}(${a})`)),
      fc
        .constantFrom('contains', 'startsWith', 'format')
        .chain((name) => joined(',').map((args) => `${name}${args}`)),
      inner.map((a) => `fromJSON(${a})[${a}]`),
      inner.map((a) => `case(${a}, ${a}, ${a})`),
      inner.map((a) => `format('{0}{0}{1}', ${a}, ${a})`),
    ),
  };
});

test('any text is read or refused, and nothing else happens', () => {
  fc.assert(
    fc.property(fc.oneof(soup, fc.string()), (text) => {
      const fault = refused(text);
      expect(fault === null || fault.length < 500).toBe(true);
      faultOf(() => parseTemplate(text, SCOPE));
      if (fault === null) faultOf(() => judged({ condition: text }));
    }),
    { numRuns: 1000 },
  );
});

test('what can be read can be evaluated, or says why not', () => {
  fc.assert(
    fc.property(expression, (text) => {
      expect(refused(text)).toBe(null);
      faultOf(() => judged({ condition: text }));
      if (!text.includes('success'))
        faultOf(() => judged({ payload: [`\${{ ${text} }}`, `a\${{${text}}}b`] }));
    }),
    { numRuns: 1000 },
  );
});

const quoted = (text: string) => `\${{'${text.replaceAll("'", "''")}'}}`;

test('a text in quotes is that text, between any others', () => {
  const literal = fc.string({ unit: 'binary' }).filter((text) => !/\$\{?$|\{\{/.test(text));
  fc.assert(
    fc.property(literal, fc.string({ unit: 'binary' }), literal, (before, text, after) => {
      expect(judged({ payload: `${before}${quoted(text)}${after}` })).toEqual({
        run: true,
        spec: null,
        payload: `${before}${text}${after}`,
      });
    }),
  );
});

test('JSON goes through fromJSON and toJSON unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.stringify(value);
      const facts: Facts = { ...FACTS, needs: { a: { result: 'success', outputs: { json } } } };
      const payload = [
        '${{ fromJSON(needs.a.outputs.json) }}',
        '${{ toJSON(fromJSON(needs.a.outputs.json)) }}',
      ];
      const text = JSON.stringify(JSON.stringify(value, null, 2));
      expect(JSON.stringify(judged({ payload }, facts))).toContain(`"payload":[${json},${text}]`);
    }),
  );
});

type Status = Record<'success' | 'failure' | 'always' | 'cancelled', boolean>;
/** A condition, and what it is by the operators of JavaScript. */
interface Condition {
  text: string;
  holds: (status: Status) => boolean;
}

const { condition } = fc.letrec<{ condition: Condition }>((tie) => {
  const inner = tie('condition');
  const pair = (operator: string, holds: (a: boolean, b: boolean) => boolean) =>
    fc.tuple(inner, inner).map(([a, b]) => ({
      text: `(${a.text} ${operator} ${b.text})`,
      holds: (status: Status) => holds(a.holds(status), b.holds(status)),
    }));
  return {
    condition: fc.oneof(
      { maxDepth: 5, depthIdentifier: 'condition' },
      fc.constantFrom('success', 'failure', 'always', 'cancelled').map((name) => {
        return { text: `${name}()`, holds: (status: Status) => status[name] };
      }),
      fc.boolean().map((value) => ({ text: String(value), holds: () => value })),
      pair('&&', (a, b) => a && b),
      pair('||', (a, b) => a || b),
      pair('==', (a, b) => a === b),
      pair('!=', (a, b) => a !== b),
      inner.map(({ text, holds }) => ({ text: `!${text}`, holds: (status: Status) => !holds(status) })),
    ),
  };
});

test('conditions are what the same operators say elsewhere', () => {
  fc.assert(
    fc.property(
      condition,
      fc.boolean(),
      fc.boolean(),
      fc.boolean(),
      ({ text, holds }, ok, failed, cancelled) => {
        const status = { success: ok && !cancelled, failure: failed, always: true, cancelled };
        const isLet = text.includes('()') || status.success;
        expect(judged({ condition: text }, { ...FACTS, ancestors: { ok, failed }, cancelled }).run).toBe(
          isLet && holds(status),
        );
      },
    ),
  );
});

test.for([
  ['parentheses', '('.repeat(5000), /depth/],
  ['negations', `${'!'.repeat(5000)}true`, /depth/],
  ['calls', 'toJSON('.repeat(2000), /depth/],
  ['properties', `env${'.a'.repeat(5000)}`, /depth/],
  ['indices', 'env['.repeat(2000), /depth/],
  ['comparisons', `1${' == 1'.repeat(4000)}`, /more than 100 levels/],
  ['characters', `'${'x'.repeat(21_000)}'`, /longer than 21000/],
  ['an open text', `'${'x'.repeat(20_000)}`, /symbol: ''x{100}.*…/],
] as const)('too many %s are refused', ([, text, message]) => {
  expect(refused(text)).toMatch(message);
});

test('many that are side by side are not too many', () => {
  expect(refused(`true${' && true'.repeat(2000)}`)).toBe(null);
});

test.for([
  ['github.sha', /named-value: 'github' at character 1: there are needs and env/],
  ['env.A == "x"', /symbol: '"x"' at character 10: text stands in single quotes/],
  ['env.A == ${{ env.N }}', /symbol: '\$\{\{' at character 10: .*not written inside/],
  ["hashFiles('x')", /function: 'hashFiles'.*: there are contains/],
  ['constructor(1)', /function: 'constructor'/],
  ['__proto__()', /function: '__proto__'/],
  ['success(1)', /Too many parameters/],
  ['contains(1)', /Too few parameters/],
  ['case(true, 1)', /parameters/],
  ['env.A ==', /Unexpected end of expression/],
  ['env.A env.N', /symbol: 'env' at character 7/],
  ['\n\nfoo', /'foo' in line 3/],
  ['', /empty/],
  [' \n ', /empty/],
] as const)('%j is refused', ([text, message]) => {
  expect(refused(text)).toMatch(message);
});
