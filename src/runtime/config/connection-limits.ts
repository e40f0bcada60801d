import { countedReports } from '../../lib/reminder.js';
import type { Logger } from './logger.js';

/** Concurrent clients of each HTTP server of a process. */
type ConnectionLimits = { api: number; ops: number };

/** Descriptors for the clients of the log, the queue, calls to the authorizer (of an issuer for 256 work items), downloads, files and pipes. */
const OTHER_DESCRIPTORS = 350;

/** Connections of pools whose size is not configurable, as counted in `docs/operations/scale.md`. */
const FIXED_POOLS = 18;
const MOST = { api: 10_000, ops: 200 };
const LEAST = { api: 32, ops: 8 };

/** Without a free descriptor a server can neither accept nor refuse, and no file opens. `wanted` may only lower the limit of the public API. */
export const connectionLimits = (descriptors: number, poolSize: number, wanted?: number): ConnectionLimits => {
  const free = descriptors - poolSize - FIXED_POOLS - OTHER_DESCRIPTORS;
  const part = (of: 'api' | 'ops', share: number): number =>
    Math.max(LEAST[of], Math.min(MOST[of], Math.floor(free * share)));
  const api = part('api', 0.8);
  return { api: Math.min(api, wanted ?? api), ops: part('ops', 0.1) };
};

/** The soft limit of open files at the first question; where the system names none, the usual limit of a service. */
export const openFilesLimit = (): number => {
  limitAtFirst ??= reportedLimit();
  return limitAtFirst;
};

let limitAtFirst: number | undefined;

/** Takes 10 ms and more, because a report describes the whole process. */
const reportedLimit = (): number => {
  // Without this option the report resolves the names of network interfaces, which takes time.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : UNLIMITED;
};

const UNLIMITED = 65_536;

const WARN_EVERY_MS = 60_000;

/** Logs that connections are refused, at most once a minute, so that a flood does not fill the log. */
export const warnOfDrops = (logger: Logger, server: 'public api' | 'operations'): (() => void) =>
  countedReports(WARN_EVERY_MS, (dropped) =>
    logger.warn({ msg: 'connections closed: more than the limit were open', server, dropped }),
  );
