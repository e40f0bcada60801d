import { createHmac } from 'node:crypto';
import { addSeconds, type Instant } from '../../domain/shared/time.js';
import type { AccessRules } from '../deps.js';
import { sameSecret } from './session.js';

const DAY_SECONDS = 86_400;

/**
 * What every form of a page carries: another site can neither read nor guess it. Bound to the session (or to nobody, where none
 * is needed) and to the UTC day.
 */
export const formToken = (session: string, now: Instant, { secret, token = '' }: AccessRules): string =>
  createHmac('sha256', secret())
    .update(JSON.stringify(['form', token, session, now.slice(0, 10)]))
    .digest('base64url');

/** A page that was opened before midnight may be sent until the next. */
export const isFormToken = (sent: string, session: string, now: Instant, rules: AccessRules): boolean =>
  [now, addSeconds(now, -DAY_SECONDS)].some((day) => sameSecret(sent, formToken(session, day, rules)));
