import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import { refuse } from './answer.js';
import type { Call } from './call.js';
import type { HttpDeps } from './deps.js';
import { faultRefusal, switchedOff } from './faults.js';

export type Handler = (c: Context, call: Call) => Response | Promise<Response>;

/** A route: request id and kill switch come first (HTTP-ORDER); one summary is reported, and no exception leaves. */
export const endpoint =
  (deps: HttpDeps, route: string, handler: Handler) =>
  async (c: Context): Promise<Response> => {
    const startedAt = performance.now();
    const call: Call = { requestId: deps.newRequestId() };
    let response: Response;
    try {
      response = (await deps.apiSwitchedOff()) ? refuse(call, switchedOff) : await handler(c, call);
    } catch (error) {
      await deps.delayFault?.(error);
      response = refuse(call, faultRefusal(error, call.requestId, deps));
    }
    report(deps, route, c, call, response.status, startedAt);
    return response;
  };

/** The 404 of unknown routes. A path outside `/v1` does not belong to the API: it gets the same envelope without the kill switch. */
export const routeNotFound = (deps: HttpDeps): ((c: Context) => Response | Promise<Response>) => {
  const notFound: Handler = (_c, call) => refuse(call, { code: 'route_not_found' });
  const inside = endpoint(deps, UNMATCHED, notFound);
  return (c) => {
    const { path } = c.req;
    if (path === '/v1' || path.startsWith('/v1/')) return inside(c);
    const startedAt = performance.now();
    const call: Call = { requestId: deps.newRequestId() };
    const response = refuse(call, { code: 'route_not_found' });
    report(deps, UNMATCHED, c, call, response.status, startedAt);
    return response;
  };
};

const UNMATCHED = 'unmatched';

/** A summary that cannot be reported must not change the answer to work that was done. */
const report = (deps: HttpDeps, route: string, c: Context, call: Call, status: number, startedAt: number): void => {
  if (deps.onRequest === undefined) return;
  const { requestId, code, invoiceId, keyId } = call;
  const peer = peerOf(c);
  try {
    deps.onRequest({
      route,
      method: c.req.method,
      status,
      ...(code === undefined ? {} : { code }),
      durationMs: performance.now() - startedAt,
      requestId,
      ...(invoiceId === undefined ? {} : { invoiceId }),
      ...(keyId === undefined ? {} : { keyId }),
      ...(peer === undefined ? {} : { peer }),
    });
  } catch (error) {
    deps.onFault?.(error, requestId);
  }
};

/** Undefined without a connection, as in tests, and after the client has left. */
const peerOf = ({ env }: Context): string | undefined =>
  (env as Partial<HttpBindings> | undefined)?.incoming?.socket.remoteAddress;
