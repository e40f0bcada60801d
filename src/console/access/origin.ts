/** Names under which a browser of this machine reaches it. */
const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** The name of a Host header, without its port; undefined for what is none. */
const hostName = (header: string): string | undefined =>
  /^(?<name>[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/.exec(header.toLowerCase())?.groups?.name;

/**
 * Only names that are ours: a page of another site whose name was made to point here (DNS rebinding) sends its own. The port is
 * not looked at, because a tunnel has another one.
 */
export const isOurHost = (header: string | undefined, hosts: readonly string[]): boolean => {
  const name = hostName(header ?? '');
  return name !== undefined && (LOOPBACK.test(name) || hosts.includes(name));
};

/** A changing call must come from a page of ours: every browser says so by one of these headers. */
export const isOurOrigin = (headers: {
  host: string | undefined;
  origin: string | undefined;
  site: string | undefined;
}): boolean => {
  const { host, origin, site } = headers;
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined) return site === 'same-origin';
  const named = /^https?:\/\/(.+)$/.exec(origin.toLowerCase())?.[1];
  return named !== undefined && named === host?.toLowerCase();
};
