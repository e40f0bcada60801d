import { describe, expect, it } from 'vitest';
import { issueCertificate } from '../../src/certificates/issue-certificate.js';
import { profileFaults } from '../../src/certificates/profile.js';
import { certificateOfKey, rsaKeyOf } from '../support/fixture/rsa-keys.js';
import { sample } from '../support/fixture/samples.js';
import { itWith } from '../support/needs.js';

const now = '2026-11-21T12:00:00.000Z';
const cnpj = '12345678000195';
const named = { subjectName: 'EMPRESA', cnpj, validDays: 10, now };

const constraints = (of: object) => ({ name: 'basicConstraints', ...of });
const BOTH = { digitalSignature: true, nonRepudiation: true };
const keyUsage = (usage: object) => ({ name: 'keyUsage', ...usage });

describe('the profile of a certificate', () => {
  const issuer = issueCertificate({ subjectName: 'AC', validDays: 30, now });

  it('has no fault where it is that of an e-CNPJ, as the demo certificates are', () => {
    expect(profileFaults(issueCertificate({ ...named, issuer }).certificatePem)).toEqual([]);
  });

  itWith('samples', 'has no fault in a sample', () => {
    const inSample = /<X509Certificate>([^<]+)/.exec(sample('dps-01-me-epp-tomador-pj.xml').toString('utf8'))?.[1];
    const pem = `-----BEGIN CERTIFICATE-----\n${inSample?.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
    expect(profileFaults(pem)).toEqual([]);
  });

  it('is that of an authority, as openssl makes a certificate that signs itself', () => {
    expect(profileFaults(issueCertificate(named).certificatePem)).toEqual([
      'authority',
      'no_signature',
      'cnpj_in_name',
    ]);
  });

  it('is that of a server', () => {
    const server = issueCertificate({ ...named, issuer, serverNames: ['localhost'] });
    expect(profileFaults(server.certificatePem)).toEqual(['no_client', 'cnpj_in_name']);
  });

  it.each([
    ['leaves the usage out', [], []],
    ['lacks non-repudiation', [keyUsage({ digitalSignature: true })], ['no_signature']],
    ['lacks digital signature', [keyUsage({ nonRepudiation: true, keyEncipherment: true })], ['no_signature']],
    ['has both', [keyUsage(BOTH)], []],
    ['has bits of the second byte only', [keyUsage({ decipherOnly: true })], ['no_signature']],
    ['is an authority', [constraints({ cA: true })], ['authority']],
    ['is an authority with a depth', [constraints({ cA: true, pathLenConstraint: 0 })], ['authority']],
    ['is an authority whose usage signs no certificate', [constraints({ cA: true }), keyUsage(BOTH)], ['authority']],
    ['is no authority', [constraints({ cA: false }), keyUsage(BOTH)], []],
    ['is for mail only', [{ name: 'extKeyUsage', emailProtection: true }], ['no_client']],
  ])('%s', (_what, extensions, faults) => {
    const pem = certificateOfKey(rsaKeyOf(2_048), { cnpj, now, extensions });
    expect(profileFaults(pem)).toEqual([...faults, 'cnpj_in_name']);
  });

  it('is not judged where the bytes are no certificate', () => {
    expect(profileFaults('nothing')).toEqual([]);
  });
});
