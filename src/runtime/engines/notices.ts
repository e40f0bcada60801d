import { createStoredNotices } from '../../adapters/read-model-postgres/stored-notices.js';
import type { IssuerNotice } from '../../app/issuing/deps.js';
import type { StreamName } from '../../domain/common/ids.js';
import type { Clock } from '../../ports/clock.js';
import { faultFields, type Logger, streamFields } from '../config/logger.js';
import type { Engines } from './engines.js';

/** Notices that are stored, so that `nfse doctor` reports them for days, from whatever process they came. */
const LASTING: ReadonlySet<IssuerNotice['kind']> = new Set(['signature_unverified', 'document_altered']);

/**
 * Returns a function that reports a notice to log and metrics and stores lasting ones. It resolves once the notice is stored and never rejects. A
 * command has no metrics.
 */
export const createNoticeTeller = ({
  pool,
  clock,
  logger,
  metrics,
}: Pick<Engines, 'pool'> & {
  clock: Clock;
  logger: Logger;
  metrics?: { notice(kind: IssuerNotice['kind']): void };
}): ((notice: IssuerNotice) => Promise<void>) => {
  const store = createNoticeWriter({ pool, clock, logger });
  return async ({ stream, kind, ...rest }) => {
    metrics?.notice(kind);
    logger.warn({ msg: 'issuing', ...streamFields(stream), notice: kind, ...rest });
    if (LASTING.has(kind)) await store(kind, rest.detail ?? '', stream);
  };
};

/** Returns a function that stores a notice for `nfse doctor`. It never rejects. */
export const createNoticeWriter = ({
  pool,
  clock,
  logger,
}: Pick<Engines, 'pool'> & { clock: Clock; logger: Logger }) => {
  const notices = createStoredNotices(pool);
  return async (kind: string, detail: string, stream: StreamName): Promise<void> => {
    await notices.raise(kind, detail, stream, clock.now()).catch((error: unknown) => {
      logger.warn({ msg: 'a notice could not be stored for doctor', ...streamFields(stream), ...faultFields(error) });
    });
  };
};
