import { sqlFault } from '../../adapters/sql/errors.js';
import { addSeconds, type Instant, isWithin } from '../../domain/common/time.js';
import type { Clock } from '../../ports/clock.js';
import type { Logger } from '../config/logger.js';

/** Remembers that a write found no disk space. A probe that only reads cannot see this. */
export type DiskSpace = {
  /** Takes every fault of a request or of a worker; other faults than a full disk are ignored. */
  record(error: unknown): void;
  /** Whether a write found the disk full within the last minute. */
  isMissing(): boolean;
};

/** A process that is not ready gets no requests, so only time can end what it reports. */
const REMEMBERED_SECONDS = 60;

export const createDiskSpace = (clock: Clock, logger: Pick<Logger, 'error'>): DiskSpace => {
  let seen: Instant | undefined;
  const isMissing = (): boolean =>
    seen !== undefined && isWithin(clock.now(), seen, addSeconds(seen, REMEMBERED_SECONDS));
  return {
    record: (error) => {
      if (!isDiskFull(error)) return;
      if (!isMissing()) logger.error({ msg: 'the database has no disk space left: nothing can be written' });
      seen = clock.now();
    },
    isMissing,
  };
};

/** Whether this fault, or what caused it, is a full disk of the database. */
export const isDiskFull = (error: unknown): boolean =>
  sqlFault(error) === 'disk_full' || (error instanceof Error && error.cause !== undefined && isDiskFull(error.cause));
