import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createDownloadTokens, type SecretsOfDay } from '../../../src/app/download/download-token.js';
import type { InvoiceAddress } from '../../../src/domain/common/ids.js';

const INVOICE: InvoiceAddress = {
  mode: 'live',
  companyId: '12345678000195',
  invoiceId: '5f0c6f0e-6f4c-4a5e-9d8d-0a4c1a8f3b21',
};
const OTHER_ID = '5f0c6f0e-6f4c-4a5e-9d8d-0a4c1a8f3b22';
const NOON = '2026-11-21T12:00:00.000Z';

const secretOf =
  (...[first, ...others]: readonly [string, ...string[]]): SecretsOfDay =>
  (day) => {
    const of = (master: string) => createHash('sha256').update(`${master}|${day}`).digest();
    return [of(first), ...others.map(of)];
  };

const tokensOf = (secretOfDay = secretOf('master')) => createDownloadTokens(secretOfDay, 900);

describe('download tokens', () => {
  it('open their own invoice until the last millisecond of their 15 minutes', () => {
    const tokens = tokensOf();
    const token = tokens.issue(INVOICE, NOON);
    expect(tokens.check(token, INVOICE.invoiceId, NOON)).toEqual(INVOICE);
    expect(tokens.check(token, INVOICE.invoiceId, '2026-11-21T12:14:59.999Z')).toEqual(INVOICE);
    expect(tokens.check(token, INVOICE.invoiceId, '2026-11-21T12:15:00.000Z')).toBeUndefined();
    expect(tokens.check(token, OTHER_ID, NOON)).toBeUndefined();
  });

  it('have a single spelling', () => {
    const tokens = tokensOf();
    const token = tokens.issue(INVOICE, NOON);
    const [claims = '', mac = ''] = token.split('.');
    // 32 bytes leave two bits of the last letter unused: its neighbours mean the same bytes.
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const others = [...alphabet].map((letter) => `${mac.slice(0, -1)}${letter}`).filter((other) => other !== mac);
    const sameBytes = others.filter((other) => Buffer.from(other, 'base64url').equals(Buffer.from(mac, 'base64url')));
    expect(sameBytes).toHaveLength(3);
    const base64 = Buffer.from(mac, 'base64url').toString('base64');
    for (const other of [...sameBytes, `${mac}=`, `${mac}==`, base64, ` ${mac}`, `${mac}\n`, `${mac}*`])
      expect(tokens.check(`${claims}.${other}`, INVOICE.invoiceId, NOON)).toBeUndefined();
    for (const other of [`${token}.`, `.${token}`, `${claims.replace('l', 'L')}.${mac}`, `${claims}..${mac}`])
      expect(tokens.check(other, INVOICE.invoiceId, NOON)).toBeUndefined();
    expect(tokens.check(token, INVOICE.invoiceId, NOON)).toEqual(INVOICE);
  });

  it('of another process open the invoice too, when it has the same secrets', () => {
    const token = tokensOf().issue(INVOICE, NOON);
    expect(tokensOf().check(token, INVOICE.invoiceId, NOON)).toEqual(INVOICE);
    expect(tokensOf(secretOf('another master')).check(token, INVOICE.invoiceId, NOON)).toBeUndefined();
  });

  it('made before or after a rotation of the master key open the invoice while both keys are taken, and no third does', () => {
    const [before, during, later] = [tokensOf(), tokensOf(secretOf('next', 'master')), tokensOf(secretOf('next'))];
    const [old, fresh] = [before.issue(INVOICE, NOON), during.issue(INVOICE, NOON)];
    expect(during.check(old, INVOICE.invoiceId, NOON)).toEqual(INVOICE);
    expect(later.check(fresh, INVOICE.invoiceId, NOON)).toEqual(INVOICE);
    expect(later.check(old, INVOICE.invoiceId, NOON)).toBeUndefined();
  });

  it('of two generations are good side by side around midnight, and a rotation cuts none short', () => {
    const days: string[] = [];
    const tokens = tokensOf((day) => {
      days.push(day);
      return secretOf('master')(day);
    });
    const before = tokens.issue(INVOICE, '2026-11-21T23:44:59.000Z');
    const after = tokens.issue(INVOICE, '2026-11-21T23:59:00.000Z');
    expect(days).toEqual(['2026-11-21', '2026-11-22']);
    for (const token of [before, after]) {
      expect(tokens.check(token, INVOICE.invoiceId, '2026-11-21T23:59:58.999Z')).toEqual(INVOICE);
    }
    expect(tokens.check(after, INVOICE.invoiceId, '2026-11-22T00:13:59.999Z')).toEqual(INVOICE);
  });

  it('made with the secret of a past day, or for a later expiry than any that was given out, open nothing', () => {
    const leaked = secretOf('master')('2026-11-20');
    const forged = createDownloadTokens(() => leaked, 900).issue(INVOICE, NOON);
    expect(tokensOf().check(forged, INVOICE.invoiceId, NOON)).toBeUndefined();
    const longLived = createDownloadTokens(secretOf('master'), 86_400).issue(INVOICE, NOON);
    expect(tokensOf().check(longLived, INVOICE.invoiceId, NOON)).toBeUndefined();
  });

  it('of a process whose clock is half a minute ahead are accepted', () => {
    const token = tokensOf().issue(INVOICE, '2026-11-21T12:00:30.000Z');
    expect(tokensOf().check(token, INVOICE.invoiceId, NOON)).toEqual(INVOICE);
  });

  it.each(['', '.', 'x', 'l12345678000195.', 'l12345678000195zzzzzzzzzz.AAAA', 'l1234567800019zmj.AAAA'])(
    '%j is no token',
    (token) => {
      expect(tokensOf().check(token, INVOICE.invoiceId, NOON)).toBeUndefined();
    },
  );

  it('changed in any one character open nothing', () => {
    const tokens = tokensOf();
    const token = tokens.issue(INVOICE, NOON);
    for (let at = 0; at < token.length - 1; at += 1) {
      const changed = `${token.slice(0, at)}${token[at] === '1' ? '2' : '1'}${token.slice(at + 1)}`;
      expect(tokens.check(changed, INVOICE.invoiceId, NOON), changed).toBeUndefined();
    }
    expect(tokens.check(`${token}.x`, INVOICE.invoiceId, NOON)).toBeUndefined();
  });
});
