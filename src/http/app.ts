import { Hono } from 'hono';
import { createAuthentication, READ, WRITE, withKey, withKeyAndBody } from './access/authentication.js';
import { createSlidingLimit } from './access/sliding-limit.js';
import { refuse } from './answer.js';
import type { HttpDeps } from './deps.js';
import { addDocs } from './docs/routes.js';
import { endpoint, type Handler, routeNotFound } from './endpoint.js';
import { activitiesRoute } from './routes/activities.js';
import { cancelRoute } from './routes/cancel.js';
import { downloadRoute, linkOpeningsPerMinute } from './routes/download.js';
import { findRoute } from './routes/find.js';
import { issueRoute } from './routes/issue.js';
import { readRoute } from './routes/read.js';

/**
 * The seven routes of the public API. Hono answers HEAD as GET without a body; any other method is an unknown route
 * (CODE-route_not_found). Without middleware, each route is one function, so that a read costs little more than Hono itself.
 */
export const createApp = (deps: HttpDeps): Hono => {
  const app = new Hono();
  const { write, read } = deps.rateLimits;
  const authentication = createAuthentication(deps, {
    write: createSlidingLimit(write),
    read: createSlidingLimit(read),
  });
  const get = (path: string, handler: Handler): unknown => app.get(path, endpoint(deps, path, handler));
  const post = (path: string, handler: Handler): unknown => app.post(path, endpoint(deps, path, handler));

  post('/v1/nfse', withKeyAndBody(deps, authentication, WRITE, issueRoute(deps)));
  get('/v1/nfse', withKey(authentication, READ, findRoute(deps)));
  get('/v1/nfse/:id', withKey(authentication, READ, readRoute(deps)));
  post('/v1/nfse/:id/cancel', withKeyAndBody(deps, authentication, WRITE, cancelRoute(deps)));
  const pdf = { extension: 'pdf', contentType: 'application/pdf', load: deps.downloadPdf } as const;
  const xml = { extension: 'xml', contentType: 'application/xml', load: deps.downloadXml } as const;
  const access = { authentication, openings: createSlidingLimit(linkOpeningsPerMinute(deps.rateLimits)) };
  get('/v1/nfse/:id/pdf', downloadRoute(deps, access, pdf));
  get('/v1/nfse/:id/xml', downloadRoute(deps, access, xml));
  get('/v1/activities', withKey(authentication, READ, activitiesRoute(deps)));
  if (deps.docs) addDocs(app, deps);
  const methodsOf = (path: string) => ['POST', 'GET'].filter((method) => app.router.match(method, path)[0].length > 0);
  app.notFound(routeNotFound(deps, methodsOf));
  // Only a failing hook of this service leads here; the answer still has the envelope.
  app.onError(() => refuse({ requestId: deps.newRequestId(), hasPages: deps.docs }, { code: 'internal_error' }));
  return app;
};
