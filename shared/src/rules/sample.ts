// The workflow that shows wfg at work: workflow-graph's built-in sample, eight jobs in four layers.
import type { Definition } from '../contract/definition.ts';
import { defineWorkflow } from './definition.ts';

export const SAMPLE_ID = 'ci-1';

const job = (name: string, run: string, needs: string[] = []) => ({ name, run, needs });

/** The sample's definition. */
export function sampleWorkflow(): Definition {
  return defineWorkflow({
    name: 'ci.yml',
    on: 'push',
    jobs: {
      'unit-tests': job('Unit Tests', 'echo "Running unit tests"; sleep 2; echo "42 passed"'),
      lint: job('Lint', 'echo "Checking style"; sleep 1; echo "No findings"'),
      typecheck: job('Typecheck', 'echo "Checking types"; sleep 1; echo "No errors"'),
      build: job('Build', 'echo "Building"; sleep 2; echo "::set-output version=1.0.0"', [
        'unit-tests',
        'lint',
        'typecheck',
      ]),
      'deploy-db': job('Deploy DB', 'echo "Migrating the database"; sleep 1', ['build']),
      'e2e-tests': job('E2E Tests', 'echo "Testing $WFG_OUT_BUILD_VERSION end to end"; sleep 2', ['build']),
      'deploy-preview': job('Deploy Preview', 'echo "Deploying a preview"; sleep 1', ['build']),
      'deploy-web': job('Deploy Web', 'echo "Deploying the web application"; sleep 1', ['deploy-db']),
    },
  });
}
