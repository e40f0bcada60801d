import { describe, expect, it } from 'vitest';
import {
  apiKeysIn,
  apiKeyText,
  type CompanyState,
  companyFold,
  createApiKey,
  keepDisabled,
  modeOfApiKey,
  putCompany,
  removeCertificates,
  revokeApiKey,
  storeCertificate,
  switchCompany,
  withoutApiKeys,
} from '../../../src/domain/company/company.js';
import type { CompanyEvent } from '../../../src/domain/company/events.js';
import { registration } from '../../support/fixture/company.js';

const AT = '2026-11-21T12:00:00.000Z';
const LATER = '2026-11-22T12:00:00.000Z';

const given = (...events: CompanyEvent[]): CompanyState => events.reduce(companyFold.evolve, companyFold.initial);

const registered: CompanyEvent = { type: 'CompanyRegistered', data: { registration, at: AT } };
const enabled: CompanyEvent = { type: 'CompanyEnabled', data: { at: AT } };
const disabled: CompanyEvent = { type: 'CompanyDisabled', data: { at: AT } };

const key = (keyId: string) => ({
  keyId,
  companyId: registration.cnpj,
  mode: 'test' as const,
  scopes: ['nfse:read' as const],
  keyHash: `h-${keyId}`,
});
const created = (keyId: string): CompanyEvent => ({ type: 'ApiKeyCreated', data: { ...key(keyId), at: AT } });
const revoked = (keyId: string): CompanyEvent => ({ type: 'ApiKeyRevoked', data: { keyId, at: AT } });

const certificate = {
  certificateId: 'c',
  notBefore: '2026-01-01T00:00:00.000Z',
  notAfter: '2027-01-01T00:00:00.000Z',
  fingerprint: 'f',
};
const changed = { ...registration, city: 'Niterói' };

const change: CompanyEvent = { type: 'CompanyChanged', data: { registration: changed, at: AT } };
const opened: CompanyEvent = { type: 'CertificateOpened', data: { certificateId: 'c', at: AT } };
const unusable = (certificateId: string): CompanyEvent => ({
  type: 'CertificateOpened',
  data: { certificateId, unusable: 'key_size', at: AT },
});
const stored = (certificateId: string): CompanyEvent => ({
  type: 'CertificateStored',
  data: { ...certificate, certificateId, at: AT },
});

const removed = (...certificateIds: string[]): CompanyEvent => ({
  type: 'CertificatesRemoved',
  data: { certificateIds, at: AT },
});

const company = { kind: 'company', registration, enabled: false, keys: [] };

describe('a company is', () => {
  it.each<[string, CompanyEvent[], object]>([
    ['disabled and without keys at first', [registered], company],
    [
      'as it was last put, its switch untouched',
      [registered, enabled, change],
      { ...company, registration: changed, enabled: true },
    ],
    ['on when switched on', [registered, enabled], { ...company, enabled: true }],
    ['off when switched off', [registered, enabled, disabled], company],
    ['known by its newest certificate', [registered, stored('old'), stored('c')], { ...company, certificate }],
    ['without a certificate when it was removed', [registered, stored('c'), removed('old', 'c')], company],
    [
      'known by its certificate when an older one was removed',
      [registered, stored('c'), removed('old')],
      { ...company, certificate },
    ],
    ['no other for a certificate that was opened', [registered, opened], company],
    [
      'known by a certificate that cannot be used',
      [registered, stored('c'), opened, unusable('c')],
      { ...company, certificate: { ...certificate, unusable: 'key_size' } },
    ],
    [
      'known by a certificate that the last opening found usable',
      [registered, stored('c'), unusable('c'), opened],
      { ...company, certificate },
    ],
    [
      'known by its newest certificate, whatever an older one was',
      [registered, stored('c'), unusable('old')],
      { ...company, certificate },
    ],
    [
      'known by a renewed certificate',
      [registered, stored('old'), unusable('old'), stored('c')],
      { ...company, certificate },
    ],
    [
      'known by its keys, each revoked on its own',
      [registered, created('1'), created('2'), revoked('2')],
      {
        ...company,
        keys: [
          { keyId: '1', mode: 'test', scopes: ['nfse:read'], keyHash: 'h-1', createdAt: AT, revoked: false },
          { keyId: '2', mode: 'test', scopes: ['nfse:read'], keyHash: 'h-2', createdAt: AT, revoked: true },
        ],
      },
    ],
  ])('%s', (_what, events, state) => {
    expect(given(...events)).toEqual(state);
  });

  it('nothing before it is registered', () => {
    expect(() => given(enabled)).toThrow('CompanyEnabled before CompanyRegistered');
  });
});

describe('a log recovery that holds a company', () => {
  it.each([
    ['given a disabled company, then says so once more in its stream', [registered], { events: [disabled] }],
    ['given an enabled company, then is refused', [registered, enabled], { refused: 'enabled' }],
    ['given no company, then records nothing', [], { events: [] }],
  ])('%s', (_what, events, decision) => {
    expect(keepDisabled(given(...events), AT)).toEqual(decision);
  });
});

const unknown = { refused: 'no such company: register it with company put first' };

describe('an operator', () => {
  it.each([
    ['registers', () => putCompany(companyFold.initial, registration, AT), [registered]],
    [
      'changes what differs',
      () => putCompany(given(registered), changed, LATER),
      [{ type: 'CompanyChanged', data: { registration: changed, at: LATER } }],
    ],
    ['changes nothing that is the same', () => putCompany(given(registered), { ...registration }, LATER), []],
    ['switches on', () => switchCompany(given(registered), true, AT), [enabled]],
    ['switches off', () => switchCompany(given(registered, enabled), false, AT), [disabled]],
    ['switches off what is off', () => switchCompany(given(registered), false, AT), []],
    ['switches on what is on', () => switchCompany(given(registered, enabled), true, AT), []],
    ['makes a key', () => createApiKey(given(registered), key('1'), AT), [created('1')]],
    ['revokes a key', () => revokeApiKey(given(registered, created('1'), created('2')), '2', AT), [revoked('2')]],
    ['revokes it once', () => revokeApiKey(given(registered, created('1'), revoked('1')), '1', AT), []],
    ['stores a certificate', () => storeCertificate(given(registered), certificate, AT), [stored('c')]],
    ['removes the certificate', () => removeCertificates(given(registered, stored('c')), ['c'], AT), [removed('c')]],
    [
      'removes a replaced certificate of an enabled company',
      () => removeCertificates(given(registered, enabled, stored('b'), stored('c')), ['b'], AT),
      [removed('b')],
    ],
    ['removes none where none is stored', () => removeCertificates(given(registered, enabled), [], AT), []],
  ])('%s', (_what, decide, events) => {
    expect(decide()).toEqual({ events });
  });

  it.each([
    ['switch', () => switchCompany(companyFold.initial, true, AT)],
    ['give keys to', () => createApiKey(companyFold.initial, key('1'), AT)],
    ['revoke keys of', () => revokeApiKey(companyFold.initial, '1', AT)],
    ['store certificates for', () => storeCertificate(companyFold.initial, certificate, AT)],
    ['remove certificates of', () => removeCertificates(companyFold.initial, ['c'], AT)],
  ])('cannot %s a company that is not registered', (_what, decide) => {
    expect(decide()).toEqual(unknown);
  });

  it('cannot lose the certificate that it issues with while it is enabled', () => {
    expect(removeCertificates(given(registered, enabled, stored('c')), ['c'], AT)).toEqual({
      refused: 'the company is enabled and issues with this certificate: disable the company first',
    });
  });

  it('cannot revoke a key that the company never had', () => {
    expect(revokeApiKey(given(registered, created('1')), '2', AT)).toEqual({ refused: 'no such key' });
  });
});

describe('an API key', () => {
  const secret = `${'A0_-'.repeat(10)}xyz`;

  it.each(['live', 'test'] as const)('names its mode to its owner: %s', (mode) => {
    expect(apiKeyText(mode, secret)).toBe(`svc_sk_${mode}_${secret}`);
    expect(modeOfApiKey(`svc_sk_${mode}_${secret}`)).toBe(mode);
  });

  it.each([
    ['another mode', `svc_sk_prod_${secret}`],
    ['a short secret', `svc_sk_live_${secret.slice(1)}`],
    ['a long secret', `svc_sk_live_${secret}x`],
    ['another alphabet', `svc_sk_live_${secret.slice(1)}+`],
    ['something before it', ` svc_sk_live_${secret}`],
    ['nothing', ''],
  ])('is no text with %s', (_what, text) => {
    expect(modeOfApiKey(text)).toBeUndefined();
  });

  it('loses its secret in a text for a person, also a part of a key', () => {
    const typed = `svc_sk_live_${secret} and svc_sk_test_${secret.slice(9)}: no such company`;
    expect(withoutApiKeys(typed)).toBe('svc_sk_live_… and svc_sk_test_…: no such company');
    expect(withoutApiKeys('svc_sk_ is the prefix')).toBe('svc_sk_ is the prefix');
  });

  it('are found in a line by their whole text, each once', () => {
    const [live, test] = [apiKeyText('live', 'a-_1'.padEnd(43, 'B')), apiKeyText('test', 'c'.repeat(43))];
    expect(apiKeysIn(`KEY="${live}"; ${test},${live}`)).toEqual([live, test]);
    expect(apiKeysIn(`${live}x ${test.slice(0, -1)} ${live.slice(1)}`)).toEqual([]);
    expect(apiKeysIn('')).toEqual([]);
  });
});
