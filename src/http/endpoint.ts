import type { Context } from 'hono';
import type { ErrorCode, Refusal } from '../domain/common/error-catalogue.js';
import { present } from '../domain/common/present.js';
import { refuse } from './answer.js';
import { type Call, takeBack } from './call.js';
import type { HttpDeps } from './deps.js';
import { faultRefusal, refusalIn, switchedOff } from './faults.js';
import { holdBack, incomingOf, takeInHand } from './in-hand.js';
import { report, UNMATCHED } from './report.js';

export type Handler = (c: Context, call: Call) => Response | Promise<Response>;

/** Codes of refusals that take nothing from a quota, so that no quota bounds their number. */
const pacedCodes: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'rate_limit_exceeded',
  'unauthorized',
  'insufficient_scope',
  'feature_not_enabled',
  'route_not_found',
]);

/** A route: request id and kill switch come first (HTTP-ORDER); one summary is reported, and no exception leaves. */
export const endpoint =
  (deps: HttpDeps, route: string, handler: Handler) =>
  async (c: Context): Promise<Response> => {
    const startedAt = performance.now();
    const call: Call = { requestId: deps.newRequestId(), hasPages: deps.docs };
    const inHand = takeInHand(c, call.requestId);
    // Read first: after the client has left, the connection has no address.
    const peer = peerOf(c);
    let response: Response;
    let closed: Refusal | undefined;
    try {
      closed = refusalIn(await deps.apiState());
      response = closed === undefined ? await handler(c, call) : refuse(call, closed);
    } catch (error) {
      await holdBack(c, deps.delayFault?.(error));
      const refused = faultRefusal(error, call.requestId, deps);
      if (refused === switchedOff) takeBack(call);
      response = refuse(call, refused);
    }
    const durationMs = performance.now() - startedAt;
    if (closed !== undefined || call.isUncounted || (call.code !== undefined && pacedCodes.has(call.code)))
      await holdBack(c, deps.pacing?.refusals(call.keyId ?? peer ?? ''));
    // Last, because the server may have answered in place of the app until now.
    const { status, code } = inHand.refused ?? { status: response.status, code: call.code };
    const { requestId, invoiceId, keyId } = call;
    const { method } = c.req;
    report(deps, present({ route, method, status, code, durationMs, requestId, invoiceId, keyId, peer }));
    return response;
  };

/** As `endpoint`, for a path outside `/v1`, which does not belong to the API: without the kill switch. */
export const openEndpoint = (deps: HttpDeps, route: string, handler: Handler): ((c: Context) => Promise<Response>) =>
  endpoint({ ...deps, apiState: async () => 'open' }, route, handler);

/** The methods with which the app has a route for a path. */
type MethodsOf = (path: string) => readonly string[];

/** The 404 of unknown routes. */
export const routeNotFound = (deps: HttpDeps, methodsOf: MethodsOf): ((c: Context) => Promise<Response>) => {
  const notFound: Handler = (c, call) =>
    refuse(call, present({ code: 'route_not_found' as const, message: hintOf(c.req.path, methodsOf) }));
  const inside = endpoint(deps, UNMATCHED, notFound);
  const outside = openEndpoint(deps, UNMATCHED, notFound);
  return (c) => (/^\/v1(?:\/|$)/.test(c.req.path) ? inside(c) : outside(c));
};

/** Undefined for a path that no route has with another method or without a slash at its end. */
const hintOf = (path: string, methodsOf: MethodsOf): string | undefined => {
  const methods = methodsOf(path);
  if (methods.length > 0) return `Esta rota não existe com este método: use ${methods.join(' ou ')}.`;
  return path.endsWith('/') && methodsOf(path.slice(0, -1)).length > 0
    ? 'Esta rota não existe: retire a barra do fim do caminho.'
    : undefined;
};

/** Undefined without a connection, as in tests, and after the client has left. */
export const peerOf = (c: Context): string | undefined => incomingOf(c)?.socket.remoteAddress;
