import { aroundAuthorizer } from '../../app/issuing/around-authorizer.js';
import { isAuthorizerCode } from '../../domain/common/authorizer-code.js';
import type { Authorizer } from '../../ports/authorizer.js';
import type { Tracing } from '../../ports/tracing.js';

const FAILED: ReadonlySet<string> = new Set(['not_sent', 'unknown', 'inconclusive']);

/** Makes a span of each call inside a trace. The authorizer learns nothing of the trace. */
export const tracedAuthorizer =
  (tracing: Tracing) =>
  (authorizer: Authorizer): Authorizer =>
    aroundAuthorizer(authorizer, (operation, caller, call) => {
      if (tracing.current() === undefined) return call();
      const attributes = { 'nfse.mode': caller.mode, 'nfse.company': caller.companyId };
      return tracing.inSpan(`authorizer ${operation}`, { kind: 'client', attributes }, async (span) => {
        const result = await call();
        const codes = ('codes' in result ? result.codes : []).filter(isAuthorizerCode);
        span.add({ 'nfse.outcome': result.kind, ...(codes.length === 0 ? {} : { 'nfse.codes': codes }) });
        if (FAILED.has(result.kind)) span.fail(result.kind);
        return result;
      });
    });
