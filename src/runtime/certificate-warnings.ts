import type { Watch } from '../adapters/read-model-postgres/watch.js';
import { daysLeft, expiryWarning } from '../domain/company/certificate-expiry.js';
import type { CompanyId } from '../domain/shared/ids.js';
import { epochMs, type Instant } from '../domain/shared/time.js';
import type { Clock } from '../ports/clock.js';
import type { Logger } from './logger.js';

export type CertificateWarningsDeps = {
  watch: Pick<Watch, 'certificateExpiries'>;
  clock: Clock;
  logger: Pick<Logger, 'warn' | 'error'>;
};

const EVERY_MS = 60_000;

/** As the gauge of the same: of more companies, those that expire first. */
const MOST_CERTIFICATES = 1_000;

/**
 * Says in the log when a certificate has fewer than 30, 15, 7 and 1 days left and when it is over: each once in the life of the
 * process, so a process that starts later says where each one stands. Looks once a minute, however often it is called.
 */
export const createCertificateWarnings = ({ watch, clock, logger }: CertificateWarningsDeps): (() => Promise<void>) => {
  let said = new Map<CompanyId, string>();
  let lookedAt: number | undefined;

  const warn = (companyId: CompanyId, notAfter: Instant, now: Instant): string | undefined => {
    const warning = expiryWarning(notAfter, now);
    if (warning === undefined) return undefined;
    const step = `${notAfter}/${warning.kind === 'expired' ? 'expired' : warning.withinDays}`;
    if (said.get(companyId) === step) return step;
    const fields = { company: companyId, not_after: notAfter, days_left: daysLeft(notAfter, now) };
    if (warning.kind === 'expired') logger.error({ msg: 'a certificate is over: the company cannot issue', ...fields });
    else logger.warn({ msg: 'a certificate ends soon', within_days: warning.withinDays, ...fields });
    return step;
  };

  return async () => {
    const now = clock.now();
    if (lookedAt !== undefined && Math.abs(epochMs(now) - lookedAt) < EVERY_MS) return;
    const expiries = await watch.certificateExpiries(MOST_CERTIFICATES);
    lookedAt = epochMs(now);
    const steps = expiries.flatMap(({ companyId, notAfter }): [CompanyId, string][] => {
      const step = warn(companyId, notAfter, now);
      return step === undefined ? [] : [[companyId, step]];
    });
    said = new Map(steps);
  };
};
