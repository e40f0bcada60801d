import { createHmac } from 'node:crypto';
import { addSeconds, epochMs, type Instant, instant } from '../domain/common/time.js';
import { sameSecret } from '../lib/sha256.js';
import type { Clock } from '../ports/clock.js';
import type { AccessRules } from './deps.js';

/**
 * The cookies of a session: of a sign-in over HTTPS, and of one over HTTP. Two names, because a browser that has a Secure cookie takes none of the same
 * name from an HTTP page. The path is not that of the prefix `__Host-`.
 */
export const COOKIES = { overTls: '__Secure-nfse_console', plain: 'nfse_console' } as const;

/** Seconds: a working day, after which the operator signs in again. */
export const SESSION_SECONDS = 43_200;

/** Names as they appear in `support:<name>` of an event: without separators and characters that a page or a log would have to quote. */
const OPERATOR = /^[\p{L}\p{N}][\p{L}\p{N} .:_@-]{0,59}$/u;

/** Undefined for text that is no valid operator name. */
export const readOperator = (text: string): string | undefined => {
  const name = text.trim();
  return OPERATOR.test(name) ? name : undefined;
};

/** In place of the console's own origin, which differs by host; no address can have this name. */
const SOME_ORIGIN = 'http://console.invalid';

/**
 * Path and query of a page of the console, to be opened after the sign-in. Undefined for every other text, which could lead to another site: a
 * browser reads a backslash as a slash, skips control characters and takes `//` for the begin of a host.
 */
export const readNext = (text: string): string | undefined => {
  if (!text.startsWith('/console/') || /[\\\p{Cc}]|\/\//u.test(text)) return undefined;
  const { origin, pathname, search } = new URL(text, SOME_ORIGIN);
  return origin === SOME_ORIGIN && pathname.startsWith('/console/') ? `${pathname}${search}` : undefined;
};

/** Includes the operator token, so that a new token ends every session and every form. */
export const macOf = (what: 'session' | 'form', { secret, token = '' }: AccessRules, ...claims: string[]): string =>
  createHmac('sha256', secret())
    .update(JSON.stringify([what, token, ...claims]))
    .digest('base64url');

/** `<name>.<session>.<expiry>.<mac>`, valid for 12 hours. The id of the session is in the log too; without the MAC it gives no access. */
export const sessionCookie = (operator: string, session: string, now: Instant, rules: AccessRules): string => {
  const expires = epochMs(addSeconds(now, SESSION_SECONDS)).toString(36);
  const claims = `${Buffer.from(operator).toString('base64url')}.${session}.${expires}`;
  return `${claims}.${macOf('session', rules, claims)}`;
};

/** Returns the operator of a cookie; undefined when the cookie is invalid or expired. Whether the session was ended is not checked here. */
export const readSession = (
  cookie: string,
  now: Instant,
  rules: AccessRules,
): { name: string; session: string; until: Instant } | undefined => {
  const [name = '', session = '', expires = '', mac = '', ...rest] = cookie.split('.');
  if (rest.length > 0 || !/^[0-9a-z]{1,9}$/.test(expires)) return undefined;
  if (!sameSecret(mac, macOf('session', rules, `${name}.${session}.${expires}`))) return undefined;
  const expiresMs = Number.parseInt(expires, 36);
  const leftMs = expiresMs - epochMs(now);
  if (leftMs <= 0 || leftMs > SESSION_SECONDS * 1000) return undefined;
  return { name: Buffer.from(name, 'base64url').toString('utf8'), session, until: instant(expiresMs) };
};

/** Host names under which a browser on this machine reaches the console. 127.999.1.1 is no address, and a URL with it cannot be read. */
const LOOPBACK = /^(?:localhost|127(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}|\[::1\])$/;

/** The name in a Host header, without its port; undefined for invalid text. */
const hostName = (header: string): string | undefined =>
  /^(?<name>[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/.exec(header.toLowerCase())?.groups?.name;

/**
 * Whether the Host header names this console. A page whose name resolves here by DNS rebinding sends its own name. The port is ignored, because a
 * tunnel uses another one.
 */
export const isOurHost = (header: string | undefined, hosts: readonly string[]): boolean => {
  const name = hostName(header ?? '');
  return name !== undefined && (LOOPBACK.test(name) || hosts.includes(name));
};

/** Whether a changing request comes from a page of the console: every browser sends at least one of these headers. */
export const isOurOrigin = (headers: {
  host: string | undefined;
  origin: string | undefined;
  site: string | undefined;
}): boolean => {
  const { host, origin, site } = headers;
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined) return site === 'same-origin';
  const named = /^https?:\/\/(.+)$/.exec(origin.toLowerCase())?.[1];
  return named !== undefined && named === host?.toLowerCase();
};

/**
 * Whether the browser reached the page that sent this form by HTTPS, which a proxy ended: the console speaks plain HTTP and knows no outside address.
 * A browser names the origin with every form. A proxy that removes the header leaves what is read as plain HTTP.
 */
export const isOverTls = (origin: string | undefined): boolean => origin?.toLowerCase().startsWith('https://') === true;

const WINDOW_MS = 60_000;
/** As long as a session, so that an operator's address stays known from one sign-in to the next. */
const KNOWN_MS = 12 * 3_600_000;
const ADDRESSES_KEPT = 1_000;

/** Key under which the wrong tokens of all addresses are counted; no address looks like this. */
const ALL = '*';

/** Wrong tokens of the last minute, by address. */
type Attempts = {
  /** Seconds to wait; 0 when a token may be tried now. */
  waitSeconds(address: string): number;
  recordWrong(address: string): void;
  recordRight(address: string): void;
};

/** Wrong tokens a minute. */
const MOST_OF_ADDRESS = 5;
const MOST_OF_ALL = 20;

/**
 * Allows a number of wrong tokens a minute per address and from all addresses together; over a limit the token is not even compared. The common
 * limit stops guessing from many addresses. For an address that gave the right token within 12 hours only its own limit counts, so that guesses
 * from other addresses do not lock operators out. Behind a proxy or tunnel all have one address, and open sessions go on.
 */
export const createAttempts = (clock: Clock): Attempts => {
  const wrongs = new Map<string, readonly number[]>();
  const rightAt = new Map<string, number>();
  const nowMs = (): number => epochMs(clock.now());
  const isKnown = (address: string): boolean =>
    Math.abs(nowMs() - (rightAt.get(address) ?? Number.NEGATIVE_INFINITY)) < KNOWN_MS;
  const recent = (key: string): readonly number[] =>
    (wrongs.get(key) ?? []).filter((at) => Math.abs(nowMs() - at) < WINDOW_MS);
  const waitAt = (key: string, most: number): number => {
    const hits = recent(key);
    // A further try is possible once only `most - 1` wrong tokens lie within the last minute.
    const leaving = hits[hits.length - most];
    return leaving === undefined ? 0 : Math.ceil((leaving + WINDOW_MS - nowMs()) / 1000);
  };
  return {
    waitSeconds: (address) =>
      Math.max(waitAt(address, MOST_OF_ADDRESS), isKnown(address) ? 0 : waitAt(ALL, MOST_OF_ALL)),
    recordRight: (address) => remember(rightAt, address, nowMs()),
    recordWrong: (address) => {
      for (const key of [address, ALL]) remember(wrongs, key, [...recent(key), nowMs()]);
    },
  };
};

/** Keeps the addresses that were remembered last. */
const remember = <T>(known: Map<string, T>, key: string, value: T): void => {
  known.delete(key);
  known.set(key, value);
  const [first] = known.keys();
  if (known.size > ADDRESSES_KEPT && first !== undefined) known.delete(first);
};
