import type { Hono } from 'hono';
import { deleteCookie, setCookie } from 'hono/cookie';
import { createAttempts } from '../access/attempts.js';
import { COOKIE, readOperator, SESSION_SECONDS, sameSecret, sessionCookie } from '../access/session.js';
import type { ConsoleDeps } from '../deps.js';
import { type ConsoleEnv, NAME_NEEDED } from '../env.js';
import { ROOT } from '../pages/layout.js';
import { signInPage } from '../pages/sign-in.js';

/** Only where a token is demanded; elsewhere there is nothing to sign in to. */
export const signInRoutes = (app: Hono<ConsoleEnv>, { access, clock }: ConsoleDeps): void => {
  const { token } = access;
  if (token === undefined) return;
  const attempts = createAttempts(clock);
  app.get(`${ROOT}/sign-in`, (c) =>
    c.get('page').isClosed ? c.html(signInPage(c.get('page'))) : c.redirect(ROOT, 303),
  );
  app.post(`${ROOT}/sign-in`, (c) => {
    const page = c.get('page');
    const address = c.env.incoming?.socket.remoteAddress ?? '';
    const wait = attempts.waitSeconds(address);
    if (wait > 0) {
      c.header('retry-after', String(wait));
      return c.html(signInPage(page, { tone: 'bad', text: `Too many wrong tokens: wait ${wait} s.` }), 429);
    }
    const operator = readOperator(c.get('field')('operator'));
    if (operator === undefined) return c.html(signInPage(page, { tone: 'bad', text: NAME_NEEDED }), 400);
    if (!sameSecret(c.get('field')('token').trim(), token)) {
      attempts.wrong(address);
      return c.html(signInPage(page, { tone: 'bad', text: 'This is not the operator token.' }), 401);
    }
    const options = { httpOnly: true, sameSite: 'Strict', path: ROOT, maxAge: SESSION_SECONDS } as const;
    setCookie(c, COOKIE, sessionCookie(operator, clock.now(), access), options);
    return c.redirect(ROOT, 303);
  });
  app.post(`${ROOT}/sign-out`, (c) => {
    deleteCookie(c, COOKIE, { path: ROOT });
    return c.redirect(`${ROOT}/sign-in`, 303);
  });
};
