import { readFileSync } from 'node:fs';
import { Hono } from 'hono';
import { createEndedSessions } from '../app/audit/console-sessions.js';
import { SESSION_SECONDS } from './access.js';
import type { ConsoleDeps } from './deps.js';
import { type ConsoleEnv, checkAccess } from './guard.js';
import { messagePage, ROOT } from './pages/layout.js';
import { invoiceRoutes } from './routes/invoices.js';
import { listRoutes } from './routes/lists.js';
import { searchRoutes } from './routes/search.js';
import { signInRoutes } from './routes/sign-in.js';
import { workRoutes } from './routes/work.js';

/**
 * The support console below `/console`: pages rendered on the server, whole without a script. GET shows nothing personal and changes nothing. Every
 * POST that changes or reveals something appends an event with the operator as actor (ADR 24).
 */
export const createConsole = (deps: ConsoleDeps): Hono<ConsoleEnv> => {
  const style = readFileSync(new URL('./assets/style.css', import.meta.url), 'utf8');
  const app = new Hono<ConsoleEnv>({ strict: false });
  const ended = createEndedSessions(deps, SESSION_SECONDS);
  app.use(checkAccess(deps, ended));
  app.get(`${ROOT}/style.css`, (c) => c.body(style, 200, { 'content-type': 'text/css; charset=utf-8' }));
  signInRoutes(app, deps, ended);
  workRoutes(app, deps);
  searchRoutes(app, deps);
  invoiceRoutes(app, deps);
  listRoutes(app, deps);
  app.notFound((c) => {
    const { say } = c.get('page');
    const text = say('O console não tem página neste endereço.', 'The console has no page of this address.');
    return c.html(messagePage(c.get('page'), say('Página inexistente', 'No such page'), text), 404);
  });
  app.onError((error, c) => {
    deps.onFault(error);
    const { say } = c.get('page');
    const text = say(
      'Não foi possível responder agora. /health/ready diz qual serviço não responde; o log diz mais.',
      'This could not be answered now. /health/ready says which engine cannot be reached; the log says more.',
    );
    return c.html(messagePage(c.get('page'), say('Indisponível', 'Not available'), text), 503);
  });
  return app;
};
