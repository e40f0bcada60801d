import type { Authorizer, Caller } from '../../ports/authorizer.js';
import type { Tracing } from '../../ports/tracing.js';

type Result = { kind: string; codes?: readonly string[] };

/** Codes of the authorizer's catalogues. Any other text in their place may hold anything. */
const CODE = /^[A-Z]{1,5}\d{1,5}$/;

const FAILED: ReadonlySet<string> = new Set(['not_sent', 'unknown', 'inconclusive']);

/** Makes a span of each call inside a trace. The authorizer learns nothing of the trace. */
export const tracedAuthorizer =
  (tracing: Tracing) =>
  (authorizer: Authorizer): Authorizer => {
    const traced = <R extends Result>(operation: string, caller: Caller, call: () => Promise<R>): Promise<R> => {
      if (tracing.current() === undefined) return call();
      const attributes = { 'nfse.mode': caller.mode, 'nfse.company': caller.companyId };
      return tracing.inSpan(`authorizer ${operation}`, { kind: 'client', attributes }, async (span) => {
        const result = await call();
        const codes = (result.codes ?? []).filter((code) => CODE.test(code));
        span.add({ 'nfse.outcome': result.kind, ...(codes.length === 0 ? {} : { 'nfse.codes': codes }) });
        if (FAILED.has(result.kind)) span.fail(result.kind);
        return result;
      });
    };
    return {
      sendDps: (caller, bytes, deadlineAt) =>
        traced('send_dps', caller, () => authorizer.sendDps(caller, bytes, deadlineAt)),
      sendCancellation: (caller, key, bytes, deadlineAt) =>
        traced('send_cancellation', caller, () => authorizer.sendCancellation(caller, key, bytes, deadlineAt)),
      findByDps: (caller, id, until) => traced('find_by_dps', caller, () => authorizer.findByDps(caller, id, until)),
      findByAccessKey: (caller, key) =>
        traced('find_by_access_key', caller, () => authorizer.findByAccessKey(caller, key)),
      findCancellation: (caller, key, until) =>
        traced('find_cancellation', caller, () => authorizer.findCancellation(caller, key, until)),
    };
  };
