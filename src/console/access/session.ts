import { createHash, createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { addSeconds, epochMs, type Instant, instant } from '../../domain/shared/time.js';
import type { AccessRules } from '../deps.js';

export const COOKIE = 'nfse_console';

/** A working day; after it the token is asked for again. */
export const SESSION_SECONDS = 43_200;

/** As it goes into `support:<name>` of an event: no separator, nothing that a page or a log would have to quote. */
const OPERATOR = /^[\p{L}\p{N}][\p{L}\p{N} .:_@-]{0,59}$/u;

/** Undefined for a text that is no operator's name. */
export const readOperator = (text: string): string | undefined => {
  const name = text.trim();
  return OPERATOR.test(name) ? name : undefined;
};

/** Compares in a time that says nothing about where they differ. */
export const sameSecret = (one: string, other: string): boolean => {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer];
  return timingSafeEqual(a, b);
};

/** Binds to the operator token: with another token every session is over. */
const macOf = (claims: string, { secret, token = '' }: AccessRules): string =>
  createHmac('sha256', secret())
    .update(JSON.stringify(['session', token, claims]))
    .digest('base64url');

/** Names a session on record; without the MAC of the cookie it opens nothing. */
export const newSessionId = (): string => randomUUID();

/** `<name>.<session>.<expiry>.<mac>`, good for 12 hours. */
export const sessionCookie = (operator: string, session: string, now: Instant, rules: AccessRules): string => {
  const expires = epochMs(addSeconds(now, SESSION_SECONDS)).toString(36);
  const claims = `${Buffer.from(operator).toString('base64url')}.${session}.${expires}`;
  return `${claims}.${macOf(claims, rules)}`;
};

/** Who signed in with this cookie; undefined when it is bad or its time is over. Whether the session was ended is on record. */
export const readSession = (
  cookie: string,
  now: Instant,
  rules: AccessRules,
): { name: string; session: string; until: Instant } | undefined => {
  const [name = '', session = '', expires = '', mac = '', ...rest] = cookie.split('.');
  if (rest.length > 0 || !/^[0-9a-z]{1,9}$/.test(expires)) return undefined;
  if (!sameSecret(mac, macOf(`${name}.${session}.${expires}`, rules))) return undefined;
  const expiresMs = Number.parseInt(expires, 36);
  const leftMs = expiresMs - epochMs(now);
  if (leftMs <= 0 || leftMs > SESSION_SECONDS * 1000) return undefined;
  return { name: Buffer.from(name, 'base64url').toString('utf8'), session, until: instant(expiresMs) };
};
