import { createHmac, timingSafeEqual } from 'node:crypto';
import type { InvoiceAddress, Mode } from '../../domain/shared/ids.js';
import { addSeconds, epochMs, type Instant } from '../../domain/shared/time.js';

/** Makes and checks the temporary `t` of a download link (spec "Links object"). The secret never leaves this object. */
export type DownloadTokens = {
  issue(address: InvoiceAddress, now: Instant): string;
  /** The invoice that the token opens, for this invoice id only; undefined when it is bad or over. */
  check(token: string, invoiceId: string, now: Instant): InvoiceAddress | undefined;
};

/** `secrets`: the first one signs, all of them are accepted, so that a rotation cuts nobody off. */
export const createDownloadTokens = (secrets: readonly Buffer[], ttlSeconds: number): DownloadTokens => {
  const macWith = (secret: Buffer, claims: string, invoiceId: string): Buffer =>
    createHmac('sha256', secret).update(`${claims}|${invoiceId}`).digest();
  const [signing] = secrets;
  if (signing === undefined) throw new Error('a download token needs a secret');
  return {
    issue: ({ mode, companyId, invoiceId }, now) => {
      const expires = epochMs(addSeconds(now, ttlSeconds)).toString(36);
      const claims = `${mode === 'live' ? 'l' : 't'}${companyId}${expires}`;
      return `${claims}.${macWith(signing, claims, invoiceId).toString('base64url')}`;
    },
    check: (token, invoiceId, now) => {
      const [claims = '', mac = '', ...rest] = token.split('.');
      const sent = Buffer.from(mac, 'base64url');
      const genuine = secrets.map((secret) => {
        const expected = macWith(secret, claims, invoiceId);
        return sent.length === expected.length && timingSafeEqual(sent, expected);
      });
      const parsed = /^([lt])([0-9A-Z]{14})([0-9a-z]+)$/.exec(claims);
      if (rest.length > 0 || parsed === null || !genuine.includes(true)) return undefined;
      const [, modeLetter, companyId = '', expires = ''] = parsed;
      if (epochMs(now) >= Number.parseInt(expires, 36)) return undefined;
      const mode: Mode = modeLetter === 'l' ? 'live' : 'test';
      return { mode, companyId, invoiceId };
    },
  };
};
