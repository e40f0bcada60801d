/** The origin to open on this machine for a server that listens on `host`, which may stand for every address. */
export const localOrigin = (host: string, port: number): string => {
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
};
