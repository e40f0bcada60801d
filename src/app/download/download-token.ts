import { createHmac, timingSafeEqual } from 'node:crypto';
import type { InvoiceAddress, Mode } from '../../domain/shared/ids.js';
import { addSeconds, epochMs, type Instant, instant } from '../../domain/shared/time.js';

/** Makes and checks the temporary `t` of a download link (spec "Links object"). The secrets never leave this object. */
export type DownloadTokens = {
  issue(address: InvoiceAddress, now: Instant): string;
  /** The invoice that the token opens, for this invoice id only; undefined when it is bad or over. */
  check(token: string, invoiceId: string, now: Instant): InvoiceAddress | undefined;
};

/**
 * The secrets of a UTC day (`YYYY-MM-DD`): the first one makes tokens, and all of them check, so that a rotation of the master
 * key cuts no link short. Every api process answers the same bytes.
 */
export type SecretsOfDay = (day: string) => readonly [Buffer, ...Buffer[]];

/**
 * The secret is that of the UTC day in which the token expires. So it rotates by itself every midnight, and two generations
 * are good side by side for the last `ttlSeconds` of a day: a rotation cuts no link short, and a secret that got out opens
 * nothing the day after.
 */
export const createDownloadTokens = (secretsOfDay: SecretsOfDay, ttlSeconds: number): DownloadTokens => {
  const secrets = (expiresMs: number) => secretsOfDay(instant(expiresMs).slice(0, 10));
  const mac = (secret: Buffer, claims: string, invoiceId: string): string =>
    createHmac('sha256', secret).update(`${claims}|${invoiceId}`).digest('base64url');
  return {
    issue: ({ mode, companyId, invoiceId }, now) => {
      const expiresMs = epochMs(addSeconds(now, ttlSeconds));
      const claims = `${mode === 'live' ? 'l' : 't'}${companyId}${expiresMs.toString(36)}`;
      return `${claims}.${mac(secrets(expiresMs)[0], claims, invoiceId)}`;
    },
    check: (token, invoiceId, now) => {
      const [claims = '', sentMac = '', ...rest] = token.split('.');
      const parsed = CLAIMS.exec(claims);
      if (rest.length > 0 || parsed === null) return undefined;
      const [, modeLetter, companyId = '', expires = ''] = parsed;
      const expiresMs = Number.parseInt(expires, 36);
      const leftMs = expiresMs - epochMs(now);
      // A later expiry than any that was given out would choose the secret of another day.
      if (leftMs <= 0 || leftMs > ttlSeconds * 1000 + CLOCK_SKEW_MS) return undefined;
      // The texts are compared: bytes have several spellings, with padding or stray bits, and a token has a single one.
      const sent = Buffer.from(sentMac);
      const isGood = secrets(expiresMs).some((secret) => {
        const expected = Buffer.from(mac(secret, claims, invoiceId));
        return sent.length === expected.length && timingSafeEqual(sent, expected);
      });
      if (!isGood) return undefined;
      const mode: Mode = modeLetter === 'l' ? 'live' : 'test';
      return { mode, companyId, invoiceId };
    },
  };
};

/** Nine digits of base 36 reach the year 5188. */
const CLAIMS = /^([lt])([0-9A-Z]{14})([0-9a-z]{1,9})$/;

/** How far the clocks of two api processes may be apart before the links of one are refused by the other. */
const CLOCK_SKEW_MS = 60_000;
