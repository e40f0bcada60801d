import { createHmac } from 'node:crypto';
import type { InvoiceAddress, InvoiceId, Mode } from '../../domain/common/ids.js';
import { addSeconds, epochMs, type Instant, instant, utcDay } from '../../domain/common/time.js';
import { sameSecret } from '../../lib/sha256.js';

/** Makes and checks the temporary `t` of a download link (docs/contract.md LINK-pdf, LINK-xml). The secrets never leave this object. */
export type DownloadTokens = {
  issue(address: InvoiceAddress, now: Instant): string;
  /** The invoice that the token opens, for this invoice id only; undefined when the token is invalid or expired. */
  check(token: string, invoiceId: InvoiceId, now: Instant): InvoiceAddress | undefined;
};

/**
 * The secrets of a UTC day (`YYYY-MM-DD`). The first makes tokens and all of them check, so that a rotation of the master key cuts no link short.
 * Every api process computes the same bytes.
 */
export type SecretsOfDay = (day: string) => readonly [Buffer, ...Buffer[]];

/**
 * A token uses the secret of the UTC day in which it expires. So the secret changes at each midnight, and during the last `ttlSeconds` of a day
 * two secrets are valid. The change cuts no link short, and a leaked secret opens nothing the day after.
 */
export const createDownloadTokens = (secretsOfDay: SecretsOfDay, ttlSeconds: number): DownloadTokens => {
  const secrets = (expiresMs: number) => secretsOfDay(utcDay(instant(expiresMs)));
  const mac = (secret: Buffer, named: string, invoiceId: InvoiceId): string =>
    createHmac('sha256', secret).update(`${named}|${invoiceId}`).digest('base64url');
  return {
    issue: ({ mode, companyId, invoiceId }, now) => {
      const expiresMs = epochMs(addSeconds(now, ttlSeconds));
      const named = `${mode === 'live' ? 'l' : 't'}${companyId}${expiresMs.toString(36)}`;
      return `${named}.${mac(secrets(expiresMs)[0], named, invoiceId)}`;
    },
    check: (token, invoiceId, now) => {
      const [named = '', sentMac = '', ...rest] = token.split('.');
      const parsed = NAMED.exec(named);
      if (rest.length > 0 || parsed === null) return undefined;
      const [, modeLetter, companyId = '', expires = ''] = parsed;
      const expiresMs = Number.parseInt(expires, 36);
      const leftMs = expiresMs - epochMs(now);
      // An expiry that is later than any issued one would choose the secret of another day.
      if (leftMs <= 0 || leftMs > ttlSeconds * 1000 + CLOCK_SKEW_MS) return undefined;
      // The texts are compared, not their bytes: the same bytes have several spellings in base64url, and a token must have only one.
      const isGood = secrets(expiresMs).some((secret) => sameSecret(sentMac, mac(secret, named, invoiceId)));
      if (!isGood) return undefined;
      const mode: Mode = modeLetter === 'l' ? 'live' : 'test';
      return { mode, companyId, invoiceId };
    },
  };
};

/** Nine digits of base 36 reach the year 5188. */
const NAMED = /^([lt])([0-9A-Z]{14})([0-9a-z]{1,9})$/;

/** How far the clocks of two api processes may be apart before the links of one are refused by the other. */
const CLOCK_SKEW_MS = 60_000;
