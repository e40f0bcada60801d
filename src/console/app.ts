import { readFileSync } from 'node:fs';
import { Hono } from 'hono';
import { createEndedSessions } from '../app/audit/console-access.js';
import { SESSION_SECONDS } from './access/session.js';
import type { ConsoleDeps } from './deps.js';
import type { ConsoleEnv } from './env.js';
import { guard } from './guard.js';
import { ROOT } from './pages/layout.js';
import { messagePage } from './pages/sign-in.js';
import { invoiceRoutes } from './routes/invoices.js';
import { searchRoutes } from './routes/search.js';
import { signInRoutes } from './routes/sign-in.js';
import { workRoutes } from './routes/work.js';

/**
 * The support console, all of it below `/console` (interface.md "OPS_PORT"): pages made on the server, without a script. GET shows
 * nothing personal and changes nothing; every POST that changes or reveals something is an event with the operator as actor.
 */
export const createConsole = (deps: ConsoleDeps): Hono<ConsoleEnv> => {
  const style = readFileSync(new URL('./assets/style.css', import.meta.url), 'utf8');
  const app = new Hono<ConsoleEnv>({ strict: false });
  const ended = createEndedSessions(deps, SESSION_SECONDS);
  app.use(guard(deps, ended));
  app.get(`${ROOT}/style.css`, (c) => c.body(style, 200, { 'content-type': 'text/css; charset=utf-8' }));
  signInRoutes(app, deps, ended);
  workRoutes(app, deps);
  searchRoutes(app, deps);
  invoiceRoutes(app, deps);
  app.notFound((c) =>
    c.html(messagePage(c.get('page'), 'No such page', 'The console has no page of this address.'), 404),
  );
  app.onError((error, c) => {
    deps.onFault(error);
    const text =
      'This could not be answered now. /health/ready says which engine cannot be reached; the log says more.';
    return c.html(messagePage(c.get('page'), 'Not now', text), 503);
  });
  return app;
};
