// Which paths are the api's, and which the browser client's.

/** Whether a path asks the database for something; FlowForge's routes have no `/api` before them. */
export function isApiPath(path: string): boolean {
  return /^\/(?:api|workflows|metrics)(?:\/|$)/.test(path);
}
