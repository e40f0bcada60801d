import { createStoredNotices, DIFFERENCE } from '../../adapters/read-model-postgres/stored-notices.js';
import type { IssuerNotice } from '../../app/issuing/deps.js';
import type { FoundDifference } from '../../app/reconciliation/compare-invoice.js';
import { parseInvoiceStream, type StreamName } from '../../domain/common/ids.js';
import { createReminder } from '../../lib/reminder.js';
import type { Clock } from '../../ports/clock.js';
import { faultFields, type Logger, streamFields } from '../config/logger.js';
import type { Engines } from './engines.js';

const UNKNOWN_INVOICE =
  'work for an invoice that the log does not have: another service may use the same account of NATS, or an older copy of the log was put back';

/** Notices that are stored, so that `nfse doctor` reports them for days, from whatever process they came. */
const LASTING: ReadonlySet<IssuerNotice['kind']> = new Set(['signature_unverified', 'document_altered']);

/** Reports notices to log and metrics, and stores lasting ones. The promise never rejects. A command has no metrics. */
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
  const notices = createStoredNotices(pool);
  /** Another service puts such work all the time. */
  const reminder = createReminder();
  return async ({ stream, kind, ...rest }) => {
    metrics?.notice(kind);
    if (kind === 'unknown_invoice') {
      if (reminder.isDue(kind)) logger.warn({ msg: UNKNOWN_INVOICE, ...streamFields(stream), notice: kind });
      return;
    }
    logger.warn({ msg: 'issuing', ...streamFields(stream), notice: kind, ...rest });
    if (!LASTING.has(kind)) return;
    await notices.raise(kind, rest.detail ?? '', stream, clock.now()).catch((error: unknown) => {
      logger.warn({ msg: 'a notice could not be stored for doctor', ...streamFields(stream), ...faultFields(error) });
    });
  };
};

/**
 * Returns a function that stores and logs the notice of a difference; of an older one only where no notice of its mode and kind was stored since it
 * was found, as after the process ended in between. Rejects when the notice cannot be stored.
 */
export const createDifferenceTeller = ({
  pool,
  clock,
  logger,
}: Pick<Engines, 'pool'> & { clock: Clock; logger: Logger }) => {
  const notices = createStoredNotices(pool);
  return async (stream: StreamName, { kind, foundAt, isNew }: FoundDifference): Promise<void> => {
    const detail = `${parseInvoiceStream(stream)?.mode ?? ''} ${kind}`;
    const isStored = await notices.raise(DIFFERENCE, detail, stream, clock.now(), isNew ? undefined : foundAt);
    if (isStored)
      logger.error({ msg: 'the authorizer holds something other than the log says', kind, ...streamFields(stream) });
  };
};
