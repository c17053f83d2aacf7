// The page that documents workflow files, and the README, say what is so.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FileJob, WorkflowInput } from '../contract/workflow.ts';
import { readWorkflowFile } from './workflow-file.ts';

const page = readFileSync(new URL('../../../deploy/workflow-file.md', import.meta.url), 'utf8');
const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
const examplesIn = (text: string) =>
  [...text.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, yaml = '']) => yaml);

test('each of their examples is a workflow', () => {
  const names = [page, readme].map((text) => examplesIn(text).map((yaml) => readWorkflowFile(yaml).name));
  expect(names).toEqual([['release', 'morning', 'steps', 'nightly'], ['greet']]);
});

test('it tells every key', () => {
  const ignored = ['id', 'trigger'];
  const keys = Object.keys({ ...WorkflowInput.shape, ...FileJob.shape }).filter(
    (key) => !ignored.includes(key),
  );
  expect(keys.filter((key) => !page.includes(`\`${key}\``) && !page.includes(`\`${key}.`))).toEqual([]);
});
