import type { ComparisonResult } from '../../app/reconciliation/compare-invoice.js';
import { type Mode, modes } from '../../domain/common/ids.js';
import type { RequestSummary } from '../../http/deps.js';
import { operations } from '../../http/openapi/operations.js';
import type { DistributionAnswer } from '../../ports/distribution.js';
import type { Series } from './series.js';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A client can send any method; methods outside this list share one label. */
const METHODS: readonly string[] = ['GET', 'HEAD', 'POST'];

/** Counts requests. Every label comes from a closed list: route templates, methods, statuses, codes of the catalogue. Never a path. */
export const requestMetrics = ({ counter, durations }: Series): ((summary: RequestSummary) => void) => {
  const requests = counter(
    'nfse_http_requests_total',
    'Requests answered, by route template, method, status and error code (none: no error).',
    ['route', 'method', 'status', 'code'],
  );
  const duration = durations(
    'nfse_http_request_duration_seconds',
    'From the first look at a request to its answer.',
    SECONDS,
    ['route', 'method'],
  );
  const accept = durations(
    'nfse_accept_duration_seconds',
    'The same for POST /v1/nfse that was answered 202: the invoice is on disk.',
    SECONDS,
  );
  const limited = counter(
    'nfse_rate_limited_requests_total',
    'Requests refused because their key had used up its quota.',
    ['route'],
  );
  // A series that begins above 0 shows no rise to Prometheus, so that the first faults of a process would raise no alert.
  for (const { path, method: sent } of operations) {
    const [route, method] = [path.replace(/\{(\w+)\}/g, ':$1'), sent.toUpperCase()];
    requests.inc({ route, method, status: 500, code: 'internal_error' }, 0);
    requests.inc({ route, method, status: 503, code: 'service_unavailable' }, 0);
  }
  return ({ route, method: sent, status, code = 'none', durationMs }) => {
    const method = METHODS.includes(sent) ? sent : 'other';
    const seconds = durationMs / 1000;
    requests.inc({ route, method, status, code });
    duration.observe({ route, method }, seconds);
    if (route === '/v1/nfse' && method === 'POST' && status === 202) accept.observe(seconds);
    if (code === 'rate_limit_exceeded') limited.inc({ route });
  };
};

const LOOK_RESULTS: Record<ComparisonResult, true> = {
  agrees: true,
  differs: true,
  absent_once: true,
  inconclusive: true,
  canceled_elsewhere: true,
  left_alone: true,
};

const DISTRIBUTION_ANSWERS: Record<DistributionAnswer['kind'], true> = {
  documents: true,
  end: true,
  inconclusive: true,
};

/** Counters for calls to the national system besides issuing. Every series starts at 0. */
export const nationalRegisterMetrics = ({ counter }: Series) => {
  const asked = counter(
    'nfse_municipal_parameters_calls_total',
    'Questions to the municipal parameters API; no_proof: its answer said nothing, and what is kept stays.',
    ['mode', 'outcome'],
  );
  const distribution = counter(
    'nfse_distribution_calls_total',
    'Calls to the distribution of the ADN; inconclusive: the answer said nothing.',
    ['mode', 'answer'],
  );
  const looks = counter(
    'nfse_reconciliation_looks_total',
    'Invoices compared with what the authorizer holds, by result.',
    ['mode', 'result'],
  );
  for (const mode of modes) {
    for (const outcome of ['told', 'no_proof']) asked.inc({ mode, outcome }, 0);
    for (const answer of Object.keys(DISTRIBUTION_ANSWERS)) distribution.inc({ mode, answer }, 0);
    for (const result of Object.keys(LOOK_RESULTS)) looks.inc({ mode, result }, 0);
  }
  return {
    parametersAsked: (mode: Mode, outcome: 'told' | 'no_proof'): void => asked.inc({ mode, outcome }),
    distributionAsked: (mode: Mode, answer: DistributionAnswer['kind']): void => distribution.inc({ mode, answer }),
    reconciled: (mode: Mode, result: ComparisonResult): void => looks.inc({ mode, result }),
  };
};
