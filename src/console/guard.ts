import type { Context, MiddlewareHandler } from 'hono';
import { getCookie } from 'hono/cookie';
import type { EndedSessions } from '../app/audit/console-sessions.js';
import { addSeconds, type Instant } from '../domain/common/time.js';
import { sameSecret } from '../lib/same-secret.js';
import { COOKIE, isOurHost, isOurOrigin, macOf, readOperator, readSession } from './access.js';
import type { AccessRules, ConsoleDeps } from './deps.js';
import { messagePage, type PageContext, ROOT, signInPage } from './pages/layout.js';

/**
 * Allows only the console's own style sheet and forms: no script, no frame, no other origin, no caching. The referrer policy is `same-origin`,
 * because under `no-referrer` a browser sends `Origin: null` with the console's own forms and the origin could not be checked (ADR 24).
 */
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

const MAX_BODY_BYTES = 16 * 1024;

/** Runs before every page: sets headers, checks the Host, for a form also its origin, size and token, then the session. */
export const checkAccess =
  (deps: ConsoleDeps, ended: EndedSessions): MiddlewareHandler<ConsoleEnv> =>
  async (c, next) => {
    for (const [name, value] of Object.entries(HEADERS)) c.header(name, value);
    if (!isOurHost(c.req.header('host'), deps.access.hosts)) {
      return c.text(
        'This name is not one of the console: use 127.0.0.1, localhost, or a name of CONSOLE_HOSTS.\n',
        421,
      );
    }
    if (c.req.path === `${ROOT}/style.css`) return await next();
    const { session, page, signedInAs } = await pageContext(c, deps, ended);
    c.set('page', page);
    c.set('session', signedInAs);
    c.set('field', () => '');
    if (c.req.method === 'POST') {
      const refusal = await readForm(c, session, deps);
      if (refusal !== undefined) return refusal;
    } else if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
      c.header('allow', 'GET, HEAD, POST');
      return c.html(messagePage(page, 'Not allowed', 'The console knows GET, HEAD and POST.'), 405);
    }
    if (page.isClosed && c.req.path !== `${ROOT}/sign-in`) {
      if (c.req.method !== 'POST') return c.redirect(`${ROOT}/sign-in`, 303);
      return c.html(signInPage(page, { tone: 'bad', text: 'Your session is over: sign in again.' }), 401);
    }
    return await next();
  };

const pageContext = async (
  c: ConsoleContext,
  { access, clock, version, simulatedModes }: ConsoleDeps,
  ended: EndedSessions,
): Promise<{ session: string; page: PageContext; signedInAs: string | undefined }> => {
  const now = clock.now();
  const cookie = access.token === undefined ? undefined : getCookie(c, COOKIE);
  const read = cookie === undefined ? undefined : readSession(cookie, now, access);
  const found = read === undefined || (await ended.isEnded(read.session)) ? undefined : read;
  const session = access.token === undefined ? 'open' : found === undefined ? 'nobody' : (cookie ?? '');
  const operator =
    found === undefined
      ? { name: access.defaultOperator, signedIn: false }
      : { name: found.name, until: found.until, signedIn: true };
  const isClosed = session === 'nobody';
  const page = { operator, isClosed, formToken: formToken(session, now, access), path: c.req.path };
  return { session, page: { ...page, version, simulatedModes }, signedInAs: found?.session };
};

const readForm = async (
  c: ConsoleContext,
  session: string,
  { access, clock }: ConsoleDeps,
): Promise<Response | undefined> => {
  const page = c.get('page');
  const header = (name: string): string | undefined => c.req.header(name);
  if (!isOurOrigin({ host: header('host'), origin: header('origin'), site: header('sec-fetch-site') })) {
    return c.html(messagePage(page, 'Refused', 'This form was not sent from a page of the console.'), 403);
  }
  const length = Number(header('content-length') ?? Number.NaN);
  if (Number.isNaN(length)) return c.html(messagePage(page, 'Refused', 'The form has no Content-Length.'), 411);
  if (length > MAX_BODY_BYTES) return c.html(messagePage(page, 'Refused', 'The form is too long.'), 413);
  if (!/^application\/x-www-form-urlencoded(?:;|$)/i.test(header('content-type') ?? '')) {
    return c.html(messagePage(page, 'Refused', 'Only forms of the console are taken.'), 415);
  }
  const sent = new URLSearchParams(await c.req.text());
  c.set('field', (name) => sent.get(name) ?? '');
  if (isFormToken(sent.get('form_token') ?? '', session, clock.now(), access)) return undefined;
  return c.html(messagePage(page, 'Refused', 'This page is too old: open it again and repeat what you did.'), 403);
};

const DAY_SECONDS = 86_400;

/**
 * The token in every form of a page, which another site can neither read nor guess. Bound to the session (a fixed word without sign-in) and
 * to the UTC day.
 */
const formToken = (session: string, now: Instant, rules: AccessRules): string =>
  macOf('form', rules, session, now.slice(0, 10));

/** Accepts the tokens of today and yesterday, so that a page opened before midnight can still be sent. */
const isFormToken = (sent: string, session: string, now: Instant, rules: AccessRules): boolean =>
  [now, addSeconds(now, -DAY_SECONDS)].some((day) => sameSecret(sent, formToken(session, day, rules)));

/** What the check of access provides to routes. */
export type ConsoleEnv = {
  /** Set by the Node server; missing in tests that call the app directly. */
  Bindings: { incoming?: { socket: { remoteAddress?: string | undefined } } };
  Variables: {
    page: PageContext;
    /** Recorded session of the signed-in operator. */
    session: string | undefined;
    /** A field of the sent form; empty when it was not sent. */
    field: (name: string) => string;
  };
};

export type ConsoleContext = Context<ConsoleEnv>;

/** IP address of the connected peer; behind a proxy that of the proxy. */
export const peerOf = (c: ConsoleContext): string => c.env.incoming?.socket.remoteAddress ?? '';

/** The operator of a request: the signed-in name, otherwise the typed name. Undefined when the typed text is no valid name. */
export const actingOperator = (c: ConsoleContext): string | undefined => {
  const { operator } = c.get('page');
  return operator.signedIn ? operator.name : readOperator(c.get('field')('operator'));
};

export const NAME_NEEDED = 'Type your name for the record: letters, digits, spaces and . : _ @ - only, 60 at most.';
