import { Counter, Gauge, Registry } from 'prom-client';
import type { EventStore } from '../../app/event-store/event-store.js';
import type { IssuerNotice } from '../../app/issuer/deps.js';
import type { CircuitChange } from '../../app/issuer/send-gate.js';
import type { Mode } from '../../domain/shared/ids.js';
import type { RequestSummary } from '../../http/deps.js';
import type { Authorizer } from '../../ports/authorizer.js';
import { modes } from '../authorizers.js';
import { circuitGauge } from './circuit.js';
import { type Watched, watchedGauges } from './gauges.js';
import { measuredAuthorizer } from './measured-authorizer.js';
import { measuredStore } from './measured-store.js';
import { type NationalRegisterMetrics, nationalRegisterMetrics } from './national-registers.js';
import { processMetrics } from './process.js';
import { recordedEvents } from './recorded-events.js';
import { requestMetrics } from './requests.js';

export type Scrape = { contentType: string; text: string };

/** What one service tells Prometheus. Names begin with `nfse_`, but for those of the Node process. */
export type Metrics = NationalRegisterMetrics & {
  request(summary: RequestSummary): void;
  notice(notice: IssuerNotice['notice']): void;
  /** The breaker of an environment changed its state. */
  circuit(change: CircuitChange): void;
  /** The same store, with what is appended through it counted. */
  measureStore(store: EventStore): EventStore;
  /** The same authorizer, with its calls counted. */
  measureAuthorizer(authorizer: Authorizer): Authorizer;
  /** From here on a scrape also asks these. */
  watch(watched: Watched): void;
  scrape(): Promise<Scrape>;
};

const NOTICES: Record<IssuerNotice['notice'], true> = {
  certificate_missing: true,
  certificate_refused: true,
  series_blocked: true,
  number_conflict: true,
  document_invalid: true,
  content_lost: true,
  lookup_inconclusive: true,
  last_look_up_failed: true,
  document_altered: true,
  signature_unverified: true,
  outcome_not_recorded: true,
};

/** `simulated`: the modes that the simulator serves, whose notes are no fiscal documents. */
export const createMetrics = (simulated: readonly Mode[]): Metrics => {
  const registry = new Registry();
  const registers = [registry];
  const process = processMetrics();
  const requests = requestMetrics(registry);
  const notices = new Counter({
    name: 'nfse_issuer_notices_total',
    help: 'What the issuing protocol told operators; the log has the stream.',
    labelNames: ['notice'],
    registers,
  });
  for (const notice of Object.keys(NOTICES)) notices.inc({ notice }, 0);
  const simulatedMode = new Gauge({
    name: 'nfse_mode_simulated',
    help: '1 when the simulator answers for the mode: its notes are no fiscal documents.',
    labelNames: ['mode'],
    registers,
  });
  for (const mode of modes) simulatedMode.set({ mode }, simulated.includes(mode) ? 1 : 0);
  let refresh = async (): Promise<void> => undefined;
  return {
    ...nationalRegisterMetrics(registry),
    request: requests.observe,
    notice: (notice) => notices.inc({ notice }),
    circuit: circuitGauge(registry),
    measureStore: measuredStore(registry, recordedEvents(registry)),
    measureAuthorizer: measuredAuthorizer(registry),
    watch: (watched) => {
      refresh = watchedGauges(registry, watched);
    },
    scrape: async () => {
      await refresh();
      const texts = await Promise.all([registry.metrics(), process.metrics()]);
      return { contentType: registry.contentType, text: texts.join('') };
    },
  };
};
