import type { Logger } from './logger.js';

/** Clients at once, for each HTTP server of a process. */
export type ConnectionLimits = { api: number; ops: number };

/** For the log's clients, the queue, calls to the authorizer, downloads, files and pipes. */
const OTHER_DESCRIPTORS = 150;

/** Pools that nothing sets, as `docs/operations/scale.md` counts them. */
const FIXED_POOLS = 18;
const MOST = { api: 10_000, ops: 200 };
const LEAST = { api: 32, ops: 8 };

/**
 * Together with everything else below the descriptors that the process may open: beyond those a server can neither accept nor
 * refuse, and the service cannot open what it works with. `wanted` may only lower the limit of the public API.
 */
export const connectionLimits = (descriptors: number, poolSize: number, wanted?: number): ConnectionLimits => {
  const free = descriptors - poolSize - FIXED_POOLS - OTHER_DESCRIPTORS;
  const part = (of: 'api' | 'ops', share: number): number =>
    Math.max(LEAST[of], Math.min(MOST[of], Math.floor(free * share)));
  const api = part('api', 0.8);
  return { api: Math.min(api, wanted ?? api), ops: part('ops', 0.1) };
};

/** What the process may open; a system that names no limit is taken to have the usual one of a service. */
export const openFilesLimit = (): number => {
  // Interfaces and their names would be asked for else, which takes time.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : UNLIMITED;
};

const UNLIMITED = 65_536;

const WARN_EVERY_MS = 60_000;

/** Says that connections are turned away, once a minute at most: a flood shall not fill the log too. */
export const warnOfDrops = (logger: Logger, server: 'public api' | 'operations'): (() => void) => {
  let dropped = 0;
  let warnedAt = Number.NEGATIVE_INFINITY;
  return () => {
    dropped += 1;
    const now = performance.now();
    if (now - warnedAt < WARN_EVERY_MS) return;
    logger.warn({ msg: 'connections turned away: as many as the limit are open', server, dropped });
    warnedAt = now;
    dropped = 0;
  };
};
