import { Gauge, type Registry } from 'prom-client';
import type { Watch } from '../../adapters/read-model-postgres/watch.js';
import { expiryWarning, WARNING_DAYS } from '../../domain/company/certificate-expiry.js';
import { ageSeconds } from '../../domain/municipality/parameters.js';
import { epochMs } from '../../domain/shared/time.js';
import type { Clock } from '../../ports/clock.js';
import type { ParametersCache } from '../../ports/municipal-parameters.js';
import type { WorkQueue } from '../../ports/work-queue.js';
import type { ProjectionStatus } from '../../workers/projection-status.js';
import { modes } from '../authorizers.js';
import type { Readiness } from '../readiness.js';
import { scrapeSources } from './scrape-source.js';

/** What must be asked for at a scrape, because no event of this process tells it. */
export type Watched = {
  readiness(): Promise<Readiness>;
  projections(): Promise<readonly Pick<ProjectionStatus, 'name' | 'lagSeconds'>[]>;
  isHalted(projection: string): boolean;
  queue: Pick<WorkQueue, 'depth' | 'parked'>;
  watch: Watch;
  parameters: Pick<ParametersCache, 'all'>;
  clock: Clock;
};

/** Certificates change by hand, and every company's state is read for them. */
const CERTIFICATES_KEPT_MS = 60_000;

/** Asked for once a day. */
const PARAMETERS_KEPT_MS = 60_000;

/** Readiness has limits of its own and always answers: it must not be cut off just when it has something to say. */
const READINESS_LIMIT_MS = 4_000;

/** Those that expire first; more than these do not end soon all at once. */
const MOST_CERTIFICATES = 1_000;

/** Answers what is to be called before each scrape; never rejects, and ends within the limit of its slowest source. */
export const watchedGauges = (registry: Registry, watched: Watched): (() => Promise<void>) => {
  const gauge = <Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []) =>
    new Gauge<Label>({ name, help, labelNames, registers: [registry] });
  const sources = scrapeSources(registry);

  const ready = gauge('nfse_ready', '1 while /health/ready answers 200.');
  const checkOk = gauge('nfse_check_ok', 'The checks of /health/ready, one by one.', ['check']);
  sources.add({
    name: 'readiness',
    gauges: [ready, checkOk],
    ask: watched.readiness,
    keptMs: 0,
    limitMs: READINESS_LIMIT_MS,
    show: (seen) => {
      ready.set(seen.ready ? 1 : 0);
      for (const [check, { ok }] of Object.entries(seen.checks)) checkOk.set({ check }, ok ? 1 : 0);
    },
  });

  const lag = gauge(
    'nfse_projection_lag_seconds',
    'Age of the oldest event that the rows which are read do not hold.',
    ['projection'],
  );
  const halted = gauge('nfse_projection_halted', '1 when the projector of this process halted at it.', ['projection']);
  sources.add({
    name: 'projections',
    gauges: [lag, halted],
    ask: watched.projections,
    show: (all) => {
      for (const { name, lagSeconds } of all) {
        lag.set({ projection: name }, lagSeconds);
        halted.set({ projection: name }, watched.isHalted(name) ? 1 : 0);
      }
    },
  });

  const depth = gauge('nfse_queue_depth', 'Taps waiting or being handled.');
  const parked = gauge('nfse_queue_parked', 'Taps that were given up and wait for an operator.');
  sources.add({
    name: 'queue',
    gauges: [depth, parked],
    ask: async () => ({ depth: await watched.queue.depth(), parked: await watched.queue.parked() }),
    show: (seen) => {
      depth.set(seen.depth);
      parked.set(seen.parked.length);
    },
  });

  addOpenWork(sources, gauge, watched);
  addCertificates(sources, gauge, watched);
  addParameters(sources, gauge, watched);
  return sources.refresh;
};

type Sources = ReturnType<typeof scrapeSources>;
type MakeGauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) => Gauge<Label>;

const addOpenWork = (sources: Sources, gauge: MakeGauge, { watch, clock }: Watched): void => {
  const invoices = gauge('nfse_invoices_waiting', 'Invoices accepted and without an outcome.', ['mode', 'state']);
  const cancellations = gauge('nfse_cancellations_waiting', 'Cancellations without an outcome.', ['mode']);
  const oldest = gauge(
    'nfse_oldest_waiting_seconds',
    'Age of the oldest such work: since its acceptance, or since the first attempt once there is one.',
    ['mode', 'work'],
  );
  sources.add({
    name: 'open_work',
    gauges: [invoices, cancellations, oldest],
    ask: () => watch.openWork(),
    show: (rows) => {
      const now = epochMs(clock.now());
      for (const mode of modes) {
        for (const state of ['queued', 'processing']) invoices.set({ mode, state }, 0);
        cancellations.set({ mode }, 0);
        for (const work of ['issue', 'cancel'] as const) {
          const ages = rows.filter((row) => row.mode === mode && row.work === work).map((row) => epochMs(row.oldest));
          oldest.set({ mode, work }, Math.max(0, now - Math.min(now, ...ages)) / 1000);
        }
      }
      for (const { mode, work, started, count } of rows) {
        if (work === 'cancel') cancellations.inc({ mode }, count);
        else invoices.set({ mode, state: started ? 'processing' : 'queued' }, count);
      }
    },
  });
};

/** Counts and the nearest end, no company: a CNPJ may be a person's, and a scrape is kept by whoever scrapes. */
const addCertificates = (sources: Sources, gauge: MakeGauge, { watch, clock }: Watched): void => {
  const remaining = gauge(
    'nfse_certificate_remaining_seconds',
    'Time left of the certificate that ends first, negative once expired; of enabled companies. `nfse doctor` names them.',
    [],
  );
  const ending = gauge(
    'nfse_certificates_ending',
    'Certificates of enabled companies by the days that they have left: over, or fewer than 1, 7, 15, 30; each is in one only.',
    ['within'],
  );
  sources.add({
    name: 'certificates',
    gauges: [remaining, ending],
    keptMs: CERTIFICATES_KEPT_MS,
    ask: () => watch.certificateExpiries(MOST_CERTIFICATES),
    show: (expiries) => {
      const now = clock.now();
      const [first] = expiries.map(({ notAfter }) => epochMs(notAfter)).toSorted((one, other) => one - other);
      if (first !== undefined) remaining.set((first - epochMs(now)) / 1000);
      for (const within of ['over', ...WARNING_DAYS.map((days) => `${days}d`)]) ending.set({ within }, 0);
      for (const { notAfter } of expiries) {
        const warning = expiryWarning(notAfter, now);
        if (warning !== undefined)
          ending.inc({ within: warning.kind === 'expired' ? 'over' : `${warning.withinDays}d` });
      }
    },
  });
};

const addParameters = (sources: Sources, gauge: MakeGauge, { parameters, clock }: Watched): void => {
  const age = gauge(
    'nfse_municipal_parameters_age_seconds',
    'Age of the oldest convênio that the parameters API told of a municipality with companies; 0 while it told none.',
    ['mode'],
  );
  sources.add({
    name: 'municipal_parameters',
    gauges: [age],
    keptMs: PARAMETERS_KEPT_MS,
    ask: () => parameters.all(),
    show: (entries) => {
      for (const mode of modes) {
        const convenios = entries.filter((entry) => entry.mode === mode && entry.place === 'convenio');
        const ages = convenios.flatMap(({ toldAt }) => (toldAt === undefined ? [] : [ageSeconds(toldAt, clock.now())]));
        age.set({ mode }, Math.max(0, ...ages));
      }
    },
  });
};
