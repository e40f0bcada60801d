import type { Authorizer, Caller } from '../../ports/authorizer.js';
import { modes } from '../config/config.js';
import type { Series } from './series.js';

const SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60];

const LOOKUPS = ['find_by_dps', 'find_by_access_key', 'find_cancellation'] as const;
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
  type Result = { kind: string };
  const send = async <R extends Result>(operation: string, { mode }: Caller, call: Promise<R>): Promise<R> => {
    const startedAt = performance.now();
    const result = await call;
    duration.observe({ mode, operation, outcome: result.kind }, (performance.now() - startedAt) / 1000);
    return result;
  };
  const find = async <R extends Result>(
    operation: (typeof LOOKUPS)[number],
    caller: Caller,
    call: Promise<R>,
  ): Promise<R> => {
    const result = await send(operation, caller, call);
    lookups.inc({ mode: caller.mode, operation, result: result.kind });
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
