// A workflow as a body: as JSON, or as the text of a workflow file.
import { z } from 'zod';
import { WorkflowInput } from '../workflow.ts';

export const workflowBody = {
  required: true,
  content: {
    'application/json': { schema: WorkflowInput },
    'application/yaml': { schema: z.string().meta({ description: 'the text of a workflow file' }) },
  },
};
