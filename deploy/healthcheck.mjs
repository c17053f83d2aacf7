// For a container's health check: exits with 0 if the process beside it answers 200 on the given path.
//
//   node deploy/healthcheck.mjs /health|/ready

import { get } from 'node:http';

const LIMIT_MS = 3_000;

const request = get(
  { host: '127.0.0.1', port: process.env.HEALTH_PORT, path: process.argv[2], timeout: LIMIT_MS },
  (response) => {
    // Docker keeps what a check printed: it is the reason of an unhealthy container.
    response.pipe(process.stdout);
    if (response.statusCode !== 200) process.exitCode = 1;
  },
);
request.on('timeout', () => request.destroy(new Error(`no answer within ${LIMIT_MS} ms`)));
request.on('error', (err) => {
  console.error(err.message);
  process.exitCode = 1;
});
