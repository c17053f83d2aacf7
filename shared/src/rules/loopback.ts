// Which names and addresses mean this very machine.

/** Whether the name or address (IPv6 in brackets or not) is this machine's loopback. */
export function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\]|::1)$/.test(hostname.toLowerCase());
}
