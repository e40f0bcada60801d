import { Counter, Histogram, type Registry } from 'prom-client';
import type { Mode } from '../../domain/shared/ids.js';
import type { Authorizer, Caller, LookupResult, SendResult } from '../../ports/authorizer.js';
import { modes } from '../config/config.js';

const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60];

type Operation = 'send_dps' | 'send_cancellation' | 'find_by_dps' | 'find_by_access_key' | 'find_cancellation';

const LOOKUPS: readonly Operation[] = ['find_by_dps', 'find_by_access_key', 'find_cancellation'];
const LOOKUP_RESULTS = ['found', 'absent', 'inconclusive'] as const;

/** Measures every call to the authorizer and returns its results unchanged. */
export const measuredAuthorizer = (registry: Registry): ((authorizer: Authorizer) => Authorizer) => {
  const duration = new Histogram({
    name: 'nfse_authorizer_call_duration_seconds',
    help: 'Calls to the authorizer, by outcome (sends: done, rejected, not_sent, unknown; look-ups: found, absent, inconclusive).',
    labelNames: ['mode', 'operation', 'outcome'],
    buckets: SECONDS,
    registers: [registry],
  });
  const lookups = new Counter({
    name: 'nfse_lookups_total',
    help: 'Look-ups at the authorizer, by result.',
    labelNames: ['mode', 'operation', 'result'],
    registers: [registry],
  });
  for (const mode of modes) {
    for (const operation of LOOKUPS) for (const result of LOOKUP_RESULTS) lookups.inc({ mode, operation, result }, 0);
  }
  const timed = async <R extends { kind: string }>(operation: Operation, mode: Mode, call: Promise<R>): Promise<R> => {
    const startedAt = performance.now();
    const result = await call;
    duration.observe({ mode, operation, outcome: result.kind }, (performance.now() - startedAt) / 1000);
    return result;
  };
  const send = <S>(operation: Operation, { mode }: Caller, call: Promise<SendResult<S>>): Promise<SendResult<S>> =>
    timed(operation, mode, call);
  const find = async <F>(
    operation: Operation,
    { mode }: Caller,
    call: Promise<LookupResult<F>>,
  ): Promise<LookupResult<F>> => {
    const result = await timed(operation, mode, call);
    lookups.inc({ mode, operation, result: result.kind });
    return result;
  };
  return (authorizer) => ({
    sendDps: (caller, bytes, deadlineAt) => send('send_dps', caller, authorizer.sendDps(caller, bytes, deadlineAt)),
    sendCancellation: (caller, key, bytes, deadlineAt) =>
      send('send_cancellation', caller, authorizer.sendCancellation(caller, key, bytes, deadlineAt)),
    findByDps: (caller, id, until) => find('find_by_dps', caller, authorizer.findByDps(caller, id, until)),
    findByAccessKey: (caller, key) => find('find_by_access_key', caller, authorizer.findByAccessKey(caller, key)),
    findCancellation: (caller, key, until) =>
      find('find_cancellation', caller, authorizer.findCancellation(caller, key, until)),
  });
};
