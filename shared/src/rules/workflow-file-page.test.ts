// The page that documents workflow files says what is so.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FileJob, WorkflowInput } from '../contract/workflow.ts';
import { readWorkflowFile } from './workflow-file.ts';

const page = readFileSync(new URL('../../../deploy/workflow-file.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text = '']) => text);

test('each of its examples is a workflow', () => {
  expect(examples.map((text) => readWorkflowFile(text).name)).toEqual(['release', 'steps', 'nightly']);
});

test('it tells every key', () => {
  const ignored = ['id', 'trigger'];
  const keys = Object.keys({ ...WorkflowInput.shape, ...FileJob.shape }).filter(
    (key) => !ignored.includes(key),
  );
  expect(keys.filter((key) => !page.includes(`\`${key}\``) && !page.includes(`\`${key}.`))).toEqual([]);
});
