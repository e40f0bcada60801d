import { createDocumentAlarms } from '../adapters/read-model-postgres/document-alarms.js';
import type { IssuerNotice } from '../app/issuer/deps.js';
import type { Clock } from '../ports/clock.js';
import type { Engines } from './engines.js';
import { faultFields, type Logger, streamFields } from './logger.js';
import type { Metrics } from './metrics/metrics.js';

/** Told once and seen for days: by the next `nfse doctor`, in whatever process. */
const LASTING: ReadonlySet<IssuerNotice['notice']> = new Set(['signature_unverified', 'document_altered']);

/**
 * Tells operators in log and metric, and keeps what must last. The promise is over when it is kept and never rejects; a command
 * has no metrics.
 */
export const createNoticeTeller = ({
  pool,
  clock,
  logger,
  metrics,
}: Pick<Engines, 'pool'> & { clock: Clock; logger: Logger; metrics?: Pick<Metrics, 'notice'> }): ((
  notice: IssuerNotice,
) => Promise<void>) => {
  const alarms = createDocumentAlarms(pool);
  return async ({ stream, ...notice }) => {
    metrics?.notice(notice.notice);
    logger.warn({ msg: 'issuing', ...streamFields(stream), ...notice });
    if (!LASTING.has(notice.notice)) return;
    await alarms.note(notice.notice, notice.detail ?? '', stream, clock.now()).catch((error: unknown) => {
      logger.warn({ msg: 'an alarm could not be kept for doctor', ...streamFields(stream), ...faultFields(error) });
    });
  };
};
