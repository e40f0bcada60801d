import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import type { EndedSessions } from '../app/audit/console-sessions.js';
import { addSeconds, DAY_SECONDS, type Instant, utcDay } from '../domain/common/time.js';
import { lastAnswer } from '../lib/cached-check.js';
import { sameSecret } from '../lib/sha256.js';
import { COOKIES, isOurHost, isOurOrigin, macOf, readNext, readOperator, readSession } from './access.js';
import type { AccessRules, ConsoleDeps } from './deps.js';
import { isLanguage, LANGUAGE_COOKIE, languageOf, sayIn } from './language.js';
import { messagePage, type PageContext, ROOT, SHOWN, signInPage, typedFields, typedFieldsOf } from './pages/layout.js';
import { SCRIPT_SOURCE } from './script.js';

/**
 * Allows only the console's own style sheet, forms and one script by its digest: no other script, no frame, no other origin, no caching. The referrer
 * policy is `same-origin`, because under `no-referrer` a browser sends `Origin: null` with the console's own forms and the origin could not be
 * checked (ADR 24).
 */
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': `default-src 'none'; style-src 'self'; script-src ${SCRIPT_SOURCE}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** The answer to a request whose Host or address is none, so that the console never gets it. */
export const unreadableRequest = (): Response =>
  new Response('The request is no valid HTTP: check its Host and its address.\n', {
    status: 400,
    headers: { ...HEADERS, 'content-type': 'text/plain; charset=UTF-8' },
  });

/** Parameters of an address that belong to one answer: the language, which the cookie keeps, and the notices of acts that succeeded. */
const ONCE = ['lang', 'begun', 'settled', 'retried'];

const MAX_BODY_BYTES = 16 * 1024;

/** Runs before every page: sets headers, checks the Host, for a form also its origin and size, then the session, then the token of a form. */
export const checkAccess = (deps: ConsoleDeps, ended: EndedSessions): MiddlewareHandler<ConsoleEnv> => {
  // The source caches its answers. Each page waits for this answer, also a page that shows nothing of the log.
  const behind = lastAnswer(deps.projectionsBehind, { reuseMs: 0, limitMs: BEHIND_LIMIT_MS });
  return async (c, next) => {
    for (const [name, value] of Object.entries(HEADERS)) c.header(name, value);
    if (!isOurHost(c.req.header('host'), deps.access.hosts)) {
      return c.text(
        'This name is not one of the console: use 127.0.0.1, localhost, or a name of CONSOLE_HOSTS.\n',
        421,
      );
    }
    if (c.req.path === `${ROOT}/style.css`) return await next();
    const chosen = c.req.query('lang');
    if (isLanguage(chosen)) setCookie(c, LANGUAGE_COOKIE, chosen, LANGUAGE_KEPT);
    const { session, page, sessions } = await pageContext(c, deps, ended, behind);
    const { say } = page;
    c.set('page', page);
    c.set('sessions', sessions);
    c.set('field', () => '');
    if (c.req.method === 'POST') {
      const refusal = await readForm(c);
      if (refusal !== undefined) return refusal;
    } else if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
      c.header('allow', 'GET, HEAD, POST');
      const text = say('O console conhece GET, HEAD e POST.', 'The console knows GET, HEAD and POST.');
      return c.html(messagePage(page, say('Não permitido', 'Not allowed'), text), 405);
    }
    if (page.isClosed && c.req.path !== `${ROOT}/sign-in`) {
      if (c.req.method !== 'POST') return c.redirect(signInAddress(page.address), 303);
      // Before the form token, which is bound to the session: the token of a page that was open when the session ended is always refused.
      const text = say('Sua sessão terminou: entre de novo.', 'Your session is over: sign in again.');
      return c.html(
        signInPage(page, {
          notice: { tone: 'bad', text },
          next: pageOfForm(c.req.path),
          typed: typedFieldsOf(c.get('field')),
        }),
        401,
      );
    }
    if (c.req.method === 'POST' && !hasFormToken(c, session, deps)) {
      const text = say(
        'Esta página é antiga demais: abra-a de novo e repita o que fez.',
        'This page is too old: open it again and repeat what you did.',
      );
      const again = pageOfForm(c.req.path);
      const typed = html`${typedFields(page, typedFieldsOf(c.get('field')))}${again === undefined ? '' : html`<p><a href="${again}">${say('Abrir a página de novo', 'Open the page again')}</a></p>`}`;
      return c.html(messagePage(page, say('Recusado', 'Refused'), text, typed), 403);
    }
    return await next();
  };
};

const BEHIND_LIMIT_MS = 1_000;

const pageContext = async (
  c: ConsoleContext,
  { access, clock, version, simulatedModes, companyNames }: ConsoleDeps,
  ended: EndedSessions,
  projectionsBehind: () => Promise<readonly string[] | undefined>,
): Promise<{ session: string; page: PageContext; sessions: readonly OpenSession[] }> => {
  const now = clock.now();
  const sessions = access.token === undefined ? [] : await openSessions(c, now, access, ended);
  const [found] = sessions;
  const session = access.token === undefined ? 'open' : (found?.cookie ?? 'nobody');
  const operator =
    found === undefined
      ? { name: access.defaultOperator, signedIn: false }
      : { name: found.name, until: found.until, signedIn: true };
  const isClosed = session === 'nobody';
  const query = c.req.query('lang');
  const kept = getCookie(c, LANGUAGE_COOKIE);
  const language = languageOf(isLanguage(query) ? query : kept, c.req.header('accept-language'));
  const { pathname, searchParams } = new URL(c.req.url);
  for (const name of ONCE) searchParams.delete(name);
  const names = isClosed ? NO_NAMES : await companyNames().catch(() => NO_NAMES);
  // Before the first answer of the log all rows may be late.
  const late = isClosed ? [] : await projectionsBehind();
  const page = { operator, isClosed, formToken: formToken(session, now, access), path: c.req.path };
  const search = searchParams.size === 0 ? '' : `?${searchParams}`;
  const address = c.req.method === 'POST' ? undefined : `${pathname}${search}`;
  const behind = late ?? SHOWN;
  const shown = { say: sayIn(language), language, now, names, behind, isLagKnown: late !== undefined, address };
  return { session, page: { ...page, ...shown, version, simulatedModes }, sessions };
};

type OpenSession = { cookie: string; name: string; session: string; until: Instant };

/** Over HTTPS a browser sends both cookies, and one of them may be of a session that has ended. */
const openSessions = async (
  c: ConsoleContext,
  now: Instant,
  access: AccessRules,
  ended: EndedSessions,
): Promise<readonly OpenSession[]> => {
  const open: OpenSession[] = [];
  for (const name of [COOKIES.overTls, COOKIES.plain]) {
    const cookie = getCookie(c, name) ?? '';
    const read = readSession(cookie, now, access);
    if (read !== undefined && !(await ended.isEnded(read.session))) open.push(Object.assign({ cookie }, read));
  }
  return open;
};

/** The address of the sign-in, which then opens the wanted page; without a page it opens the overview. */
const signInAddress = (wanted = ''): string => {
  const next = readNext(wanted);
  return next === undefined ? `${ROOT}/sign-in` : `${ROOT}/sign-in?${new URLSearchParams({ next })}`;
};

/** The page from which a form was sent: `/console/parked` for `/console/parked/retry`. */
const pageOfForm = (path: string): string | undefined => readNext(path.replace(/\/[^/]*$/, ''));

/** Sets the fields of a form from a page of the console. Returns the answer to any other form. */
const readForm = async (c: ConsoleContext): Promise<Response | undefined> => {
  const page = c.get('page');
  const header = (name: string): string | undefined => c.req.header(name);
  const { say } = page;
  const refused = (portuguese: string, english: string, status: 403 | 411 | 413 | 415) =>
    c.html(messagePage(page, say('Recusado', 'Refused'), say(portuguese, english)), status);
  if (!isOurOrigin({ host: header('host'), origin: header('origin'), site: header('sec-fetch-site') })) {
    return refused(
      'Este formulário não foi enviado de uma página do console.',
      'This form was not sent from a page of the console.',
      403,
    );
  }
  const length = Number(header('content-length') ?? Number.NaN);
  if (Number.isNaN(length))
    return refused('O formulário não tem Content-Length.', 'The form has no Content-Length.', 411);
  if (length > MAX_BODY_BYTES) return refused('O formulário é longo demais.', 'The form is too long.', 413);
  if (!/^application\/x-www-form-urlencoded(?:;|$)/i.test(header('content-type') ?? '')) {
    return refused('Só formulários do console são aceitos.', 'Only forms of the console are taken.', 415);
  }
  // A form that broke off has no token, so nothing is done; the client no longer waits for the answer, and there is no fault of ours.
  const sent = new URLSearchParams(await c.req.text().catch(() => ''));
  c.set('field', (name) => sent.get(name) ?? '');
  return undefined;
};

/**
 * The token in every form of a page, which another site can neither read nor guess. Bound to the session (a fixed word without sign-in) and
 * to the UTC day.
 */
const formToken = (session: string, now: Instant, rules: AccessRules): string =>
  macOf('form', rules, session, utcDay(now));

/** Accepts the tokens of today and yesterday, so that a page opened before midnight can still be sent. */
const hasFormToken = (c: ConsoleContext, session: string, { access, clock }: ConsoleDeps): boolean => {
  const [sent, now] = [c.get('field')('form_token'), clock.now()];
  return [now, addSeconds(now, -DAY_SECONDS)].some((day) => sameSecret(sent, formToken(session, day, access)));
};

/** What the check of access provides to routes. */
export type ConsoleEnv = {
  /** Set by the Node server; missing in tests that call the app directly. */
  Bindings: { incoming?: { socket: { remoteAddress?: string | undefined } } };
  Variables: {
    page: PageContext;
    /** Recorded sessions of the signed-in operator, the one of the page first. */
    sessions: readonly OpenSession[];
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

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** A year; the choice of a language is no secret and no session. */
const LANGUAGE_KEPT = { httpOnly: true, sameSite: 'Strict', path: ROOT, maxAge: 31_536_000 } as const;
