import { Counter, Histogram, type Registry } from 'prom-client';
import type { RequestSummary } from '../../http/deps.js';

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A client chooses its method; only these are a label of their own. */
const METHODS: readonly string[] = ['GET', 'HEAD', 'POST'];

export type RequestMetrics = { observe(summary: RequestSummary): void };

/** Every label comes from a closed list: route templates, methods, statuses, codes of the catalogue. Never a path. */
export const requestMetrics = (registry: Registry): RequestMetrics => {
  const registers = [registry];
  const requests = new Counter({
    name: 'nfse_http_requests_total',
    help: 'Requests answered, by route template, method, status and error code (none: no error).',
    labelNames: ['route', 'method', 'status', 'code'],
    registers,
  });
  const duration = new Histogram({
    name: 'nfse_http_request_duration_seconds',
    help: 'From the first look at a request to its answer.',
    labelNames: ['route', 'method'],
    buckets: SECONDS,
    registers,
  });
  const accept = new Histogram({
    name: 'nfse_accept_duration_seconds',
    help: 'The same for POST /v1/nfse that was answered 202: the invoice is on disk.',
    buckets: SECONDS,
    registers,
  });
  const limited = new Counter({
    name: 'nfse_rate_limited_requests_total',
    help: 'Requests refused because their key had used up its quota.',
    labelNames: ['route'],
    registers,
  });
  return {
    observe: ({ route, method: sent, status, code = 'none', durationMs }) => {
      const method = METHODS.includes(sent) ? sent : 'other';
      const seconds = durationMs / 1000;
      requests.inc({ route, method, status, code });
      duration.observe({ route, method }, seconds);
      if (route === '/v1/nfse' && method === 'POST' && status === 202) accept.observe(seconds);
      if (code === 'rate_limit_exceeded') limited.inc({ route });
    },
  };
};
