// What is too much of in an unchecked workflow, judged first and without copying: an alias in YAML makes millions of
// dependencies or gigabytes of text cheaply, and each of them, or of a million bad names, would be an issue of its own.
import type { Issue } from '../contract/problem.ts';
import { MAX_ENV_ENTRIES, MAX_EXPRESSIONS, MAX_JOBS, MAX_NEEDS, MAX_STEPS } from '../contract/workflow.ts';

/** Characters of all texts and names. A body has at most 16 MiB. */
const MAX_CHARS = 32 * 1024 * 1024;
/** Texts, numbers, lists, maps. */
const MAX_VALUES = 2_000_000;
const MAX_DEPTH = 100;

/** The first of them; null when everything is within its bounds. */
export function sizeIssue(input: unknown): Issue | null {
  const jobs = fieldOf(input, 'jobs');
  if (typeof jobs !== 'object' || jobs === null) return totalIssue(input);
  if (Object.hasOwn(jobs, '__proto__')) {
    return { path: 'jobs.__proto__', message: "Job id '__proto__' cannot be used" };
  }
  const entries = entriesOf(jobs);
  const sum = (of: (job: unknown) => unknown) =>
    entries.reduce((total: number, job) => total + lengthOf(of(job)), 0);
  const needs = sum((job) => fieldOf(job, 'needs') ?? fieldOf(job, 'depends_on'));
  const steps = sum((job) => fieldOf(job, 'steps'));
  const tooMany =
    over(entries.length, MAX_JOBS, 'jobs') ??
    over(needs, MAX_NEEDS, 'dependencies') ??
    over(steps, MAX_STEPS, 'steps');
  if (tooMany) return tooMany;
  const stepEnvs = entries
    .flatMap((job) => entriesOf(fieldOf(job, 'steps')))
    .map((step) => fieldOf(step, 'env'));
  const env = [fieldOf(input, 'env'), ...stepEnvs].reduce((total: number, it) => total + lengthOf(it), 0);
  return over(env + sum((job) => fieldOf(job, 'env')), MAX_ENV_ENTRIES, 'variables') ?? totalIssue(input);
}

function over(count: number, most: number, what: string): Issue | null {
  if (count <= most) return null;
  return { path: 'jobs', message: `${count} ${what} are more than the ${most} a workflow may have` };
}

/** Walks everything, what is an alias as often as it stands there, until it is too much. */
function totalIssue(input: unknown): Issue | null {
  let chars = 0;
  let values = 0;
  let expressions = 0;
  const open = [{ value: input, depth: 1 }];
  for (let at = open.pop(); at; at = open.pop()) {
    const { value, depth } = at;
    values += 1;
    if (typeof value === 'string') {
      chars += value.length;
      if (value.includes('${{')) expressions += value.split('${{').length - 1;
    }
    if (typeof value === 'object' && value !== null) {
      if (depth > MAX_DEPTH) return { path: '', message: `it is nested more than ${MAX_DEPTH} levels deep` };
      for (const [name, inner] of Object.entries(value)) {
        if (!Array.isArray(value)) chars += name.length;
        open.push({ value: inner, depth: depth + 1 });
      }
    }
    if (chars > MAX_CHARS || values + open.length > MAX_VALUES) {
      return {
        path: '',
        message: 'it is too large: at most 32 MiB of text and 2,000,000 values, aliases unfolded',
      };
    }
  }
  return over(expressions, MAX_EXPRESSIONS, 'expressions');
}

/** Of an array or a map; none of anything else. */
function entriesOf(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

function lengthOf(value: unknown): number {
  return entriesOf(value).length;
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
