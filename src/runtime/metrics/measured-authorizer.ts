import { type AuthorizerOperation, aroundAuthorizer } from '../../app/issuing/around-authorizer.js';
import { modes } from '../../domain/common/ids.js';
import type { Authorizer } from '../../ports/authorizer.js';
import type { Series } from './series.js';

const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60];

const LOOKUPS: readonly AuthorizerOperation[] = ['find_by_dps', 'find_by_access_key', 'find_cancellation'];
const LOOKUP_RESULTS = ['found', 'absent', 'inconclusive'] as const;

/** Measures every call to the authorizer and returns its results unchanged. */
export const measuredAuthorizer = ({ counter, durations }: Series): ((authorizer: Authorizer) => Authorizer) => {
  const duration = durations(
    'nfse_authorizer_call_duration_seconds',
    'Calls to the authorizer, by outcome (sends: done, rejected, not_sent, unknown; look-ups: found, absent, inconclusive).',
    SECONDS,
    ['mode', 'operation', 'outcome'],
  );
  const lookups = counter('nfse_lookups_total', 'Look-ups at the authorizer, by result.', [
    'mode',
    'operation',
    'result',
  ]);
  for (const mode of modes) {
    for (const operation of LOOKUPS) for (const result of LOOKUP_RESULTS) lookups.inc({ mode, operation, result }, 0);
  }
  return (authorizer) =>
    aroundAuthorizer(authorizer, async (operation, { mode }, call) => {
      const startedAt = performance.now();
      const result = await call();
      duration.observe({ mode, operation, outcome: result.kind }, (performance.now() - startedAt) / 1000);
      if (LOOKUPS.includes(operation)) lookups.inc({ mode, operation, result: result.kind });
      return result;
    });
};
