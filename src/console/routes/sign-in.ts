import { randomUUID } from 'node:crypto';
import type { Hono } from 'hono';
import { deleteCookie, setCookie } from 'hono/cookie';
import { appendAudit } from '../../app/audit/audit-trail.js';
import type { EndedSessions } from '../../app/audit/console-sessions.js';
import { sameSecret } from '../../lib/sha256.js';
import {
  COOKIES,
  createAttempts,
  isOverTls,
  readNext,
  readOperator,
  SESSION_SECONDS,
  sessionCookie,
} from '../access.js';
import type { ConsoleDeps } from '../deps.js';
import { type ConsoleEnv, peerOf } from '../guard.js';
import { nameNeeded, ROOT, signInPage, typedFieldsOf } from '../pages/layout.js';

/** Adds sign-in and sign-out where a token is configured. Both are recorded. */
export const signInRoutes = (app: Hono<ConsoleEnv>, deps: ConsoleDeps, ended: EndedSessions): void => {
  const { access, clock, store } = deps;
  const { token } = access;
  if (token === undefined) return;
  const attempts = createAttempts(clock);
  app.get(`${ROOT}/sign-in`, (c) => {
    const next = readNext(c.req.query('next') ?? '');
    return c.get('page').isClosed
      ? c.html(signInPage(c.get('page'), { next, typed: typedFieldsOf(c.get('field')) }))
      : c.redirect(next ?? ROOT, 303);
  });
  app.post(`${ROOT}/sign-in`, async (c) => {
    const page = c.get('page');
    const peer = peerOf(c);
    const next = readNext(c.get('field')('next'));
    const typed = typedFieldsOf(c.get('field'));
    const again = (text: string) => signInPage(page, { notice: { tone: 'bad', text }, next, typed });
    const wait = attempts.waitSeconds(peer);
    if (wait > 0) {
      c.header('retry-after', String(wait));
      const text = page.say(`Tokens errados demais: espere ${wait} s.`, `Too many wrong tokens: wait ${wait} s.`);
      return c.html(again(text), 429);
    }
    const name = readOperator(c.get('field')('operator'));
    // A token typed into the name field would be recorded permanently. No page repeats the name: one that left out some names would tell a guess.
    const operator = name?.includes(token) === true ? undefined : name;
    // The token comes before the name, because a refusal of the name alone would tell what it holds, and would be a guess that is not counted.
    if (!sameSecret(c.get('field')('token').trim(), token)) {
      attempts.recordWrong(peer);
      await appendAudit(
        'ConsoleSignInRefused',
        { operator: operator ?? '', peer },
        { store, clock, actor: 'support:console' },
      );
      return c.html(again(page.say('Este não é o token de operador.', 'This is not the operator token.')), 401);
    }
    if (operator === undefined) return c.html(again(nameNeeded(page)), 400);
    attempts.recordRight(peer);
    const session = randomUUID();
    await appendAudit('ConsoleSignedIn', { session, peer }, { store, clock, actor: `support:${operator}` });
    const secure = isOverTls(c.req.header('origin'));
    const options = { httpOnly: true, sameSite: 'Strict', path: ROOT, maxAge: SESSION_SECONDS, secure } as const;
    setCookie(
      c,
      secure ? COOKIES.overTls : COOKIES.plain,
      sessionCookie(operator, session, clock.now(), access),
      options,
    );
    return c.redirect(next ?? ROOT, 303);
  });
  app.post(`${ROOT}/sign-out`, async (c) => {
    for (const { session, name } of c.get('sessions')) {
      ended.end(session);
      await appendAudit('ConsoleSignedOut', { session, peer: peerOf(c) }, { store, clock, actor: `support:${name}` });
    }
    deleteCookie(c, COOKIES.overTls, { path: ROOT, secure: true });
    deleteCookie(c, COOKIES.plain, { path: ROOT });
    return c.redirect(`${ROOT}/sign-in`, 303);
  });
};
