// The workflow files that ship with wfg are valid, and have the shape that their readers rely on.
import { readdirSync, readFileSync } from 'node:fs';
import { sampleWorkflow } from '@wfg/shared/rules/sample';
import { readWorkflowFile } from '@wfg/shared/rules/workflow-file';
import { describe, expect, it } from 'vitest';

const folder = new URL('../../workflows/', import.meta.url);
const read = (name: string) => readWorkflowFile(readFileSync(new URL(name, folder), 'utf8'));

describe('workflows/', () => {
  it.each(readdirSync(folder))('%s can be loaded', (name) => {
    expect(read(name).jobs).not.toHaveLength(0);
  });

  it('ci.yml has the graph of the built-in sample', () => {
    const graph = (definition: ReturnType<typeof read>) =>
      definition.jobs.map(({ id, needs }) => ({ id, needs }));
    expect(graph(read('ci.yml'))).toEqual(graph(sampleWorkflow()));
  });

  it('flights.yml joins and checks forty bands', () => {
    const { jobs } = read('flights.yml');
    const bands = jobs.filter(({ id }) => id.startsWith('miles-'));
    const report = jobs.find(({ id }) => id === 'report');
    expect(bands).toHaveLength(40);
    expect(report?.needs).toEqual(['split', ...bands.map(({ id }) => id)]);
    expect(jobs.every(({ max_retries }) => max_retries === 2)).toBe(true);
  });
});
