import { collectDefaultMetrics, Registry } from 'prom-client';
import { type BreakerChange, resources } from '../../app/issuing/breaker.js';
import type { IssuerNotice } from '../../app/issuing/deps.js';
import { type Mode, modes } from '../../domain/common/ids.js';
import type { Role } from '../config/config.js';
import { programVersion } from '../config/program-version.js';
import { type Watched, watchedGauges } from './gauges.js';
import { measuredAuthorizer } from './measured-authorizer.js';
import { measuredStore } from './measured-store.js';
import { nationalRegisterMetrics, requestMetrics } from './requests.js';
import { type Series, seriesIn } from './series.js';

export type Scrape = { contentType: string; text: string };

/** The metrics of one service. Names begin with `nfse_`, except those of the Node process. */
export type Metrics = ReturnType<typeof createMetrics>;

const NOTICES: Record<IssuerNotice['kind'], true> = {
  certificate_missing: true,
  certificate_refused: true,
  series_blocked: true,
  series_exhausted: true,
  number_conflict: true,
  document_invalid: true,
  content_lost: true,
  lookup_inconclusive: true,
  last_look_up_failed: true,
  document_altered: true,
  signature_unverified: true,
  outcome_not_recorded: true,
  unknown_invoice: true,
};

/** `simulated`: the modes that the simulator serves, whose notes are no fiscal documents. `roles`: those that this process runs. */
export const createMetrics = (simulated: readonly Mode[], roles: readonly Role[]) => {
  const registry = new Registry();
  const series = seriesIn(registry);
  const process = processMetrics();
  const notices = series.counter(
    'nfse_issuer_notices_total',
    'Notices of the issuing protocol, by kind; the log lines name the stream.',
    ['notice'],
  );
  for (const notice of Object.keys(NOTICES)) notices.inc({ notice }, 0);
  const simulatedMode = series.gauge(
    'nfse_mode_simulated',
    '1 when the simulator answers for the mode: its notes are no fiscal documents.',
    ['mode'],
  );
  for (const mode of modes) simulatedMode.set({ mode }, simulated.includes(mode) ? 1 : 0);
  const role = series.gauge('nfse_role', '1 for each role that this process runs; it has no series of other roles.', [
    'role',
  ]);
  for (const run of roles) role.set({ role: run }, 1);
  let refresh = async (): Promise<void> => undefined;
  return {
    ...nationalRegisterMetrics(series),
    request: requestMetrics(series),
    notice: (notice: IssuerNotice['kind']): void => notices.inc({ notice }),
    circuit: circuitGauge(series),
    measureStore: measuredStore(series),
    measureAuthorizer: measuredAuthorizer(series),
    /** From this call on, each scrape also asks these sources. */
    watch: (watched: Watched): void => {
      refresh = watchedGauges(series, watched);
    },
    scrape: async (): Promise<Scrape> => {
      await refresh();
      const texts = await Promise.all([registry.metrics(), process.metrics()]);
      return { contentType: registry.contentType, text: texts.join('') };
    },
  };
};

const STATES: Record<BreakerChange['to'], true> = { closed: true, open: true, half_open: true };

/** Shows the state of each environment's breakers in this process: the series of the current state is 1, the others are 0. */
const circuitGauge = ({ gauge }: Series): ((change: BreakerChange) => void) => {
  const circuit = gauge(
    'nfse_authorizer_circuit',
    'Whether this process sends notes and events to the authorizer (closed), pauses (open) or tries one send (half_open): 1 for the state it is in.',
    ['mode', 'resource', 'state'],
  );
  const show = ({ mode, resource, to }: Pick<BreakerChange, 'mode' | 'resource' | 'to'>): void => {
    for (const state of Object.keys(STATES)) circuit.set({ mode, resource, state }, state === to ? 1 : 0);
  };
  for (const mode of modes) for (const resource of resources) show({ mode, resource, to: 'closed' });
  return show;
};

let collected: Registry | undefined;

/** CPU, memory, event loop and garbage collection, collected once per process: the observers cannot be removed for a second service. */
const processMetrics = (): Registry => {
  if (collected === undefined) {
    collected = new Registry();
    collectDefaultMetrics({ register: collected });
    seriesIn(collected)
      .gauge('nfse_build_info', 'Always 1; what runs is in the labels.', ['version', 'node'])
      .set({ version: programVersion(), node: process.version }, 1);
  }
  return collected;
};
