import { allProjections } from '../../../projections/registry.js';
import type { MonitoringReads } from '../../adapters/read-model-postgres/monitoring-reads.js';
import { DIFFERENCE, NOTICE_SECONDS } from '../../adapters/read-model-postgres/stored-notices.js';
import type { StoppedSeries } from '../../app/operator/support/stopped-series.js';
import { modes } from '../../domain/common/ids.js';
import { addSeconds, epochMs } from '../../domain/common/time.js';
import { ageSeconds } from '../../domain/municipality/parameters.js';
import type { Clock } from '../../ports/clock.js';
import type { ParametersCache } from '../../ports/municipal-parameters.js';
import type { ProjectionStatus } from '../../ports/projection-status.js';
import type { WorkQueue } from '../../ports/work-queue.js';
import { addCertificates } from './certificate-gauges.js';
import { rowsKnown, scrapeSources } from './scrape-sources.js';
import type { Series } from './series.js';

/** Sources that are asked at each scrape, because no event of this process reports their changes. */
export type Watched = {
  readiness(): Promise<{ ready: boolean; checks: Readonly<Record<string, { ok: boolean }>> }>;
  projections(): Promise<readonly Pick<ProjectionStatus, 'name' | 'lagSeconds'>[]>;
  isHalted(projection: string): boolean;
  queue: Pick<WorkQueue, 'depth' | 'parked'>;
  watch: MonitoringReads;
  parameters: Pick<ParametersCache, 'convenios'>;
  /** Reads the last event of every series that a company uses. */
  stoppedSeries(): Promise<readonly Pick<StoppedSeries, 'mode'>[]>;
  projectionsBehind(): Promise<readonly string[]>;
  apiSwitchedOff(): Promise<boolean>;
  /** How old the newest anchor of the log is, and in a sweeper with ANCHOR_DIR the newest file there. */
  anchorAges(): Promise<readonly { place: 'log' | 'folder'; seconds: number }[]>;
  clock: Clock;
};

/** The parameters are refreshed once a day. */
const PARAMETERS_KEPT_MS = 60_000;

/** The log is anchored once a day. */
const ANCHORS_KEPT_MS = 60_000;

/** The reads of all series are as many as companies and modes. Their last result is shown while the next reads run. */
const SERIES_EVERY_MS = 300_000;

/** Readiness has its own limits and always answers; this limit is longer, so that a slow answer still arrives. */
const READINESS_LIMIT_MS = 4_000;

/** Returns a function to call before each scrape. It never rejects and ends within the limit of its slowest source. */
export const watchedGauges = (series: Series, watched: Watched): (() => Promise<void>) => {
  const { gauge } = series;
  const sources = scrapeSources(series, rowsKnown(watched.projectionsBehind));

  const ready = gauge('nfse_ready', '1 while /health/ready answers 200.');
  const checkOk = gauge('nfse_check_ok', 'The checks of /health/ready, one by one.', ['check']);
  sources.add({
    name: 'readiness',
    gauges: [ready, checkOk],
    ask: watched.readiness,
    reuseMs: 0,
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
    gauges: [lag],
    ask: watched.projections,
    show: (all) => {
      for (const { name, lagSeconds } of all) lag.set({ projection: name }, lagSeconds);
    },
  });

  const depth = gauge('nfse_queue_depth', 'Work items waiting or being handled.');
  const parked = gauge('nfse_queue_parked', 'Parked work items, which wait for an operator.');
  sources.add({
    name: 'queue',
    gauges: [depth, parked],
    ask: async () => ({ depth: await watched.queue.depth(), parked: (await watched.queue.parked()).count }),
    show: (seen) => {
      depth.set(seen.depth);
      parked.set(seen.parked);
    },
  });

  const off = gauge('nfse_api_off', '1 while an operator has switched the API off: every request is answered 503.');
  sources.add({
    name: 'api_switch',
    gauges: [off],
    reads: 'system',
    ask: watched.apiSwitchedOff,
    show: (isOff) => off.set(isOff ? 1 : 0),
  });

  const anchorAge = gauge(
    'nfse_anchor_age_seconds',
    'Since the beginning of the UTC day of the newest anchor: of the log, and in a process with the role sweeper of the files in ANCHOR_DIR.',
    ['place'],
  );
  sources.add({
    name: 'anchors',
    gauges: [anchorAge],
    reuseMs: ANCHORS_KEPT_MS,
    ask: watched.anchorAges,
    show: (ages) => {
      for (const { place, seconds } of ages) anchorAge.set({ place }, seconds);
    },
  });

  const offset = gauge(
    'nfse_clock_offset_seconds',
    'How far the clock of this process is ahead of the clock of the database server; negative when it is behind.',
  );
  sources.add({
    name: 'clock',
    gauges: [offset],
    ask: () => watched.watch.clockOffset(watched.clock),
    show: (seconds) => offset.set(seconds),
  });

  addOpenWork(sources, series, watched);
  addUnsettled(sources, series, watched);
  addStoppedSeries(sources, series, watched);
  addNotices(sources, series, watched);
  addCertificates(sources, series, watched);
  addRefusals(sources, series, watched);
  addParameters(sources, series, watched);
  return () => {
    // Known to this process, also while the log gives no answer.
    for (const { name } of allProjections) halted.set({ projection: name }, watched.isHalted(name) ? 1 : 0);
    return sources.refresh();
  };
};

type Sources = ReturnType<typeof scrapeSources>;

const addOpenWork = (sources: Sources, { gauge }: Series, { watch, clock }: Watched): void => {
  const invoices = gauge('nfse_invoices_waiting', 'Invoices accepted and without an outcome.', ['mode', 'state']);
  const cancellations = gauge('nfse_cancellations_waiting', 'Cancellations without an outcome.', ['mode']);
  const oldest = gauge(
    'nfse_oldest_waiting_seconds',
    'Age of the oldest such work: since its acceptance, or since the first attempt once there is one; of a cancellation since its request.',
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

const UNSETTLED = ['indeterminate', 'cancellation_unconfirmed', 'cancellation_refused'] as const;

/** What waits for a person stays in these gauges until it is settled, so that their alerts do. */
const addUnsettled = (sources: Sources, { gauge }: Series, { watch, clock }: Watched): void => {
  const unsettled = gauge(
    'nfse_unsettled',
    'Invoices and live cancellations that wait for support, by what they are.',
    ['mode', 'kind'],
  );
  const oldest = gauge(
    'nfse_unsettled_oldest_seconds',
    'Age of the longest waiting: since its verdict, of a cancellation since its request; 0 without one.',
    ['mode', 'kind'],
  );
  sources.add({
    name: 'unsettled',
    gauges: [unsettled, oldest],
    reads: 'invoices',
    ask: () => watch.unsettled(),
    show: (rows) => {
      const now = epochMs(clock.now());
      for (const mode of modes) {
        for (const kind of UNSETTLED) {
          const row = rows.find((one) => one.mode === mode && one.kind === kind);
          unsettled.set({ mode, kind }, row?.count ?? 0);
          oldest.set({ mode, kind }, row === undefined ? 0 : Math.max(0, now - epochMs(row.oldest)) / 1000);
        }
      }
    },
  });
};

const addStoppedSeries = (sources: Sources, { gauge }: Series, { stoppedSeries }: Watched): void => {
  const stopped = gauge(
    'nfse_series_stopped',
    'Series that send nothing until an operator moves them; read every 5 minutes.',
    ['mode'],
  );
  const ask = inBackground(stoppedSeries, SERIES_EVERY_MS);
  sources.add({
    name: 'series',
    gauges: [stopped],
    reads: 'companies',
    ask,
    show: (found) => {
      for (const mode of modes) stopped.set({ mode }, found.filter((one) => one.mode === mode).length);
    },
  });
};

/** Asks again after `everyMs` and gives the last answer meanwhile. A failure is given to its callers, and the next call asks again. */
const inBackground = <T>(ask: () => Promise<T>, everyMs: number): (() => Promise<T>) => {
  let last: Promise<T> | undefined;
  let running: Promise<T> | undefined;
  let askedAtMs = 0;
  const begin = (): Promise<T> => {
    askedAtMs = performance.now();
    const asked = Promise.resolve().then(ask);
    running = asked;
    const settle = (kept: Promise<T> | undefined): void => {
      last = kept;
      running = undefined;
    };
    asked.then(
      () => settle(asked),
      () => settle(undefined),
    );
    return asked;
  };
  return () => {
    if (last !== undefined && performance.now() - askedAtMs < everyMs) return last;
    const asked = running ?? begin();
    return last ?? asked;
  };
};

const STORED_NOTICES: readonly Readonly<Record<string, string>>[] = [
  { notice: 'signature_unverified' },
  { notice: 'document_altered' },
  ...modes.map((mode) => ({ notice: DIFFERENCE, mode })),
];

const addNotices = (sources: Sources, { gauge }: Series, { watch, clock }: Watched): void => {
  const recent = gauge(
    'nfse_recent_alarms',
    'Kinds of notices of the last 7 days about what the authorizer holds or returned; nfse doctor names them. Only reconciliation_difference has a mode.',
    ['notice', 'mode'],
  );
  const everSeen = gauge(
    'nfse_alarms_seen',
    'How often such a notice was given, ever. An alert has it as a label, so that a silence ends with the next notice.',
    ['notice', 'mode'],
  );
  sources.add({
    name: 'alarms',
    gauges: [recent, everSeen],
    ask: () => watch.noticesSince(addSeconds(clock.now(), -NOTICE_SECONDS)),
    show: (rows) => {
      for (const one of [recent, everSeen]) for (const labels of STORED_NOTICES) one.set(labels, 0);
      for (const { notice, mode, count, seen } of rows) {
        const labels = mode === null ? { notice } : { notice, mode };
        recent.set(labels, count);
        everSeen.set(labels, seen);
      }
    },
  });
};

/** The one gauge that names companies: an alert without the CNPJ would not say whom it is about. */
const addRefusals = (sources: Sources, { gauge }: Series, { watch }: Watched): void => {
  const refused = gauge(
    'nfse_certificate_refused',
    '1 while the authorizer refuses the certificate of this company; other companies are not named.',
    ['mode', 'company'],
  );
  sources.add({
    name: 'refused_certificates',
    gauges: [refused],
    reads: 'companies',
    ask: () => watch.refusedCertificates(),
    show: (rows) => {
      for (const mode of modes) refused.set({ mode, company: '' }, 0);
      for (const { mode, companyId } of rows) refused.set({ mode, company: companyId }, 1);
    },
  });
};

const addParameters = (sources: Sources, { gauge }: Series, { parameters, clock }: Watched): void => {
  const age = gauge(
    'nfse_municipal_parameters_age_seconds',
    'Age of the oldest stored convênio of a municipality with companies; 0 without one.',
    ['mode'],
  );
  sources.add({
    name: 'municipal_parameters',
    gauges: [age],
    reuseMs: PARAMETERS_KEPT_MS,
    ask: () => parameters.convenios(),
    show: (convenios) => {
      for (const mode of modes) {
        const ages = convenios.flatMap((one) =>
          one.mode !== mode || one.knownAt === undefined ? [] : [ageSeconds(one.knownAt, clock.now())],
        );
        age.set({ mode }, Math.max(0, ...ages));
      }
    },
  });
};
