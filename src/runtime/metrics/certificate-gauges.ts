import type { MonitoringReads } from '../../adapters/read-model-postgres/monitoring-reads.js';
import { epochMs } from '../../domain/common/time.js';
import { WARNING_DAYS } from '../../domain/company/certificate-expiry.js';
import type { Clock } from '../../ports/clock.js';
import type { scrapeSources } from './scrape-sources.js';
import type { Series } from './series.js';

/** Certificates change by hand only, and the query reads every company. */
const KEPT_MS = 60_000;

type Watched = { watch: Pick<MonitoringReads, 'certificateSteps' | 'companiesWithoutCertificate'>; clock: Clock };

/** Counts and the nearest expiry, without a company: a CNPJ may be a person's, and scrapes are stored elsewhere. */
export const addCertificates = (
  sources: ReturnType<typeof scrapeSources>,
  { gauge }: Series,
  { watch, clock }: Watched,
): void => {
  const remaining = gauge(
    'nfse_certificate_remaining_seconds',
    'Time left of the certificate that ends first, negative once expired; of enabled companies. `nfse doctor` names them.',
  );
  const ending = gauge(
    'nfse_certificates_ending',
    'Certificates of enabled companies by the days that they have left: over, or fewer than 1, 7, 15, 30; each is in one only.',
    ['within'],
  );
  const missing = gauge(
    'nfse_companies_without_certificate',
    'Enabled companies that cannot issue: no certificate was stored, the database does not hold it any more, or its key cannot be used.',
  );
  sources.add({
    name: 'certificates',
    gauges: [remaining, ending, missing],
    reads: 'companies',
    reuseMs: KEPT_MS,
    ask: async () => ({
      steps: await watch.certificateSteps(clock.now()),
      without: await watch.companiesWithoutCertificate(),
    }),
    show: ({ steps, without }) => {
      missing.set(without);
      const ends = steps.map(({ first }) => epochMs(first));
      if (ends.length > 0) remaining.set((Math.min(...ends) - epochMs(clock.now())) / 1000);
      for (const within of ['over', ...WARNING_DAYS.map((days) => `${days}d`)]) ending.set({ within }, 0);
      for (const { isOver, withinDays, count } of steps)
        if (isOver || withinDays !== null) ending.set({ within: isOver ? 'over' : `${withinDays}d` }, count);
    },
  });
};
