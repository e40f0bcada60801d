import { pruneGuards } from '../../adapters/guards-postgres/guards.js';
import { createMonitoringReads, type MonitoringReads } from '../../adapters/read-model-postgres/monitoring-reads.js';
import { asLeader, leaderSession } from '../../adapters/sql/leader-lock.js';
import { oldestKeptDay } from '../../app/retention/test-retention.js';
import type { CompanyId } from '../../domain/common/ids.js';
import { addSeconds, DAY_SECONDS, epochMs, type Instant } from '../../domain/common/time.js';
import { daysLeft, expiryWarning, WARNING_DAYS } from '../../domain/company/certificate-expiry.js';
import { pause } from '../../lib/pause.js';
import { createReminder } from '../../lib/reminder.js';
import { runEach } from '../../lib/run-each.js';
import type { Clock } from '../../ports/clock.js';
import { AnchorNotPublished, createAnchorer } from '../../workers/anchorer.js';
import { type Sweeper, sweep } from '../../workers/sweeper.js';
import { createFaultLines } from '../config/fault-lines.js';
import { faultFields, type Logger } from '../config/logger.js';
import type { Parts } from './parts.js';

/** Sweeps until the signal aborts. One sweeper at a time saves work; two at once do no harm, because every decision is made on the log. */
export const runSweeper = async (
  sweeper: Sweeper,
  { config, engines, logger, clock }: Parts,
  signal: AbortSignal,
): Promise<void> => {
  const session = leaderSession(engines.pool);
  const warnOfCertificates = createCertificateWarnings({ watch: createMonitoringReads(engines.pool), clock, logger });
  const failed = createFaultLines({ logger, msg: 'a sweep failed', everyMs: config.sweepSeconds * 1000 });
  for (let sweepNumber = 1; !signal.aborted; sweepNumber++) {
    const work = async (leading: AbortSignal): Promise<void> => {
      // A sweep fails for as long as the queue is out, and what follows needs no queue.
      const faults = await runEach([
        () => sweep(sweeper, sweepNumber, leading),
        () => pruneGuards(engines.pool, { idempotencySeconds: config.idempotencySeconds }, clock.now()),
        warnOfCertificates,
      ]);
      for (const fault of faults) failed.tell(fault);
    };
    await asLeader(session, 'sweeper', work, signal).catch(failed.tell);
    await pause(config.sweepSeconds * 1000, signal);
  }
  await session.close();
};

/** Appends the daily anchor, beside the sweeps, as it may read the whole log. Waits first: each restart would otherwise read a day of the log. */
export const runAnchorerRole = async (
  { engines, config, clock, logger }: Pick<Parts, 'engines' | 'config' | 'clock' | 'logger'>,
  signal: AbortSignal,
): Promise<void> => {
  const { log, store, pool } = engines;
  const session = leaderSession(pool);
  const faults = createAnchorFaults(logger);
  const anchor = createAnchorer({
    log,
    store,
    clock,
    actor: 'timer:anchorer',
    folder: config.anchorDir,
    onAnchored: (anchored) => {
      faults.areOver();
      logger.info({ msg: 'the log was anchored', ...anchored });
    },
    onPublishedAgain: (found) => {
      faults.areOver();
      logger.warn({ msg: 'the anchor of the day was missing in ANCHOR_DIR and was written again', ...found });
    },
    onContradicted: (found) => logger.error({ msg: 'the published anchor of the day contradicts the log', ...found }),
  });
  while (!signal.aborted) {
    await pause(config.sweepSeconds * 1000, signal);
    if (signal.aborted) break;
    await asLeader(session, 'anchorer', anchor, signal).catch(faults.tell);
  }
  await session.close();
};

/** Tells why the log was not anchored, or its anchor not written to ANCHOR_DIR: each state once in ten minutes, although each sweep tries again. */
export const createAnchorFaults = (logger: Pick<Logger, 'warn' | 'error'>) => {
  const reminder = createReminder();
  const isDue = (msg: string, { error, code }: ReturnType<typeof faultFields>): boolean =>
    reminder.isDue(`${msg} ${error} ${code}`);
  return {
    tell: (error: unknown): void => {
      if (error instanceof AnchorNotPublished) {
        const fields = faultFields(error.cause);
        const msg = 'the anchor of the day is in the log and could not be written to ANCHOR_DIR';
        if (isDue(msg, fields)) logger.error({ msg, file: error.file, ...fields });
        return;
      }
      const fields = faultFields(error);
      const msg = 'the log was not anchored';
      if (isDue(msg, fields)) logger.warn({ msg, ...fields });
    },
    areOver: (): void => reminder.reset(),
  };
};

/** Destroys the keys of past test days until the signal aborts, also while issuing is paused (ADR 25). Needs no lead: two at once do no harm. */
export const runKeyDestruction = async (
  { config, engines, clock, logger }: Pick<Parts, 'config' | 'engines' | 'clock' | 'logger'>,
  signal: AbortSignal,
): Promise<void> => {
  const everyMs = config.sweepSeconds * 1000;
  const faults = createFaultLines({ logger, msg: 'the keys of past test days were not destroyed', everyMs });
  while (!signal.aborted) {
    await engines.sealingKeys.destroyDayKeys(oldestKeptDay(clock.now())).then(faults.areOver, faults.tell);
    await pause(everyMs, signal);
  }
};

type CertificateWarningsDeps = {
  watch: Pick<MonitoringReads, 'certificatesEndingBefore'>;
  clock: Clock;
  logger: Pick<Logger, 'warn' | 'error'>;
};

const WARN_EVERY_MS = 60_000;

/** Certificates of companies that left without being disabled stay expired for good, and each process names them again. */
const MOST_EXPIRED = 100;

/**
 * Logs once per process when a certificate has fewer than 30, 15, 7 and 1 days left and when it has expired. Of the expired ones it names the 100
 * that ended last and counts the others. Reads the expiries at most once a minute.
 */
export const createCertificateWarnings = ({ watch, clock, logger }: CertificateWarningsDeps): (() => Promise<void>) => {
  let logged = new Map<CompanyId, string>();
  let lookedAt: number | undefined;
  let counted = 0;

  const warn = (companyId: CompanyId, notAfter: Instant, now: Instant): string | undefined => {
    const warning = expiryWarning(notAfter, now);
    if (warning === undefined) return undefined;
    const step = `${notAfter}/${warning.kind === 'expired' ? 'expired' : warning.withinDays}`;
    if (logged.get(companyId) === step) return step;
    const fields = { company: companyId, not_after: notAfter, days_left: daysLeft(notAfter, now) };
    if (warning.kind === 'expired')
      logger.error({ msg: 'a certificate has expired: the company cannot issue', ...fields });
    else logger.warn({ msg: 'a certificate expires soon', within_days: warning.withinDays, ...fields });
    return step;
  };

  return async () => {
    const now = clock.now();
    if (lookedAt !== undefined && Math.abs(epochMs(now) - lookedAt) < WARN_EVERY_MS) return;
    const expiries = await watch.certificatesEndingBefore(addSeconds(now, Math.max(...WARNING_DAYS) * DAY_SECONDS));
    lookedAt = epochMs(now);
    const expired = expiries.filter(({ notAfter }) => expiryWarning(notAfter, now)?.kind === 'expired');
    const unnamed = new Set(expired.slice(MOST_EXPIRED));
    const steps = expiries.flatMap((expiry): [CompanyId, string][] => {
      if (unnamed.has(expiry)) return [];
      const step = warn(expiry.companyId, expiry.notAfter, now);
      return step === undefined ? [] : [[expiry.companyId, step]];
    });
    logged = new Map(steps);
    if (unnamed.size > counted)
      logger.error({ msg: 'more certificates have expired: their companies cannot issue', count: unnamed.size });
    counted = unnamed.size;
  };
};
