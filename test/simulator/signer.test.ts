import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueCertificate } from '../../src/certificates/issue-certificate.js';
import { addSeconds, brasiliaDate, brasiliaStamp, DAY_SECONDS } from '../../src/domain/common/time.js';
import { issueClientCertificate, openAuthority } from '../../src/simulator/authority.js';
import { certificateOfKey, cnpjNamesOf, rsaKeyOf } from '../support/fixture/rsa-keys.js';
import {
  COMPANY,
  cancelBody,
  codesOf,
  issue,
  issueBody,
  keyOf,
  openSimulatorHarness,
  type SimulatorHarness,
  testClock,
} from '../support/harness/simulator.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('the certificate that signs', () => {
  let harness: SimulatorHarness;
  beforeAll(async () => {
    harness = await openSimulatorHarness();
  });
  afterAll(() => harness.close());

  const post = (identity: SimulatorHarness['identity']) =>
    harness.call('POST', '/nfse', { body: issueBody(harness, { number: 40 }, identity) });

  it('must come from an authority whose clients are accepted: E0715, and E1983 for an event', async () => {
    const folder = temporaryFolder();
    const stranger = await issueClientCertificate(folder, { cnpj: COMPANY, name: 'Estranha', clock: harness.clock });
    expect(codesOf(await post(stranger))).toEqual(['E0715']);
    const key = keyOf(await issue(harness, { number: 41 }));
    const body = cancelBody(harness, key, {}, stranger);
    expect(codesOf(await harness.call('POST', `/nfse/${key}/eventos`, { body }))).toEqual(['E1983']);
  });

  it('must not have expired by the clock of the authorizer: E0715', async () => {
    await harness.control('POST', 'clock', { offset_s: 366 * 86_400 });
    expect(codesOf(await post(harness.identity))).toEqual(['E0715']);
    await harness.control('POST', 'clock', { offset_s: 364 * 86_400 });
    expect((await post(harness.identity)).status).toBe(201);
    await harness.control('POST', 'clock', { offset_s: 0 });
  });

  it('must not be an authority: E0716, and E1986 for an event', async () => {
    const authority = issueCertificate({ subjectName: `AC:${COMPANY}`, validDays: 10, now: harness.clock.now() });
    expect(codesOf(await post(authority))).toEqual(['E0716']);
    const key = keyOf(await issue(harness, { number: 42 }));
    const body = cancelBody(harness, key, {}, authority);
    expect(codesOf(await harness.call('POST', `/nfse/${key}/eventos`, { body }))).toEqual(['E1986']);
  });

  it('must be valid already, also as the channel: E0715, E1983 for an event, E1203', async () => {
    const issuer = await openAuthority(harness.folder, harness.clock);
    const now = addSeconds(new Date().toISOString(), 10 * DAY_SECONDS);
    const future = issueCertificate({ subjectName: 'Futura', cnpj: COMPANY, issuer, validDays: 9, now });
    expect(codesOf(await post(future))).toEqual(['E0715']);
    const key = keyOf(await issue(harness, { number: 43 }));
    const body = cancelBody(harness, key, {}, future);
    expect(codesOf(await harness.call('POST', `/nfse/${key}/eventos`, { body }))).toEqual(['E1983']);
    const channel = await harness.call('GET', `/nfse/${key}`, { identity: future });
    expect([channel.status, codesOf(channel)]).toEqual([403, ['E1203']]);
  });

  it.each([-3_650, 500])('holds under a clock moved by %i days when the control port made it', async (days) => {
    await harness.control('POST', 'clock', { offset_s: days * DAY_SECONDS });
    const { json } = await harness.control('POST', 'certificates', { cnpj: COMPANY });
    const made = json as Record<'certificate_pem' | 'private_key_pem', string>;
    const identity = { certificatePem: made.certificate_pem, privateKeyPem: made.private_key_pem };
    const at = addSeconds(harness.clock.now(), days * DAY_SECONDS);
    const changes = { number: 5_000 + days, dhEmi: brasiliaStamp(at), dCompet: brasiliaDate(at) };
    const answer = await harness.call('POST', '/nfse', { body: issueBody(harness, changes, identity), identity });
    await harness.control('POST', 'clock', { offset_s: 0 });
    expect([answer.status, codesOf(answer)]).toEqual([201, []]);
  });

  const basic = (cA: boolean) => ({ name: 'basicConstraints', cA });
  const usage = (usages: object) => ({ name: 'keyUsage', ...usages });
  const BOTH = usage({ digitalSignature: true, nonRepudiation: true });
  const named = cnpjNamesOf(COMPANY);
  it.each<[string, readonly object[], string, string]>([
    ['of an authority that signs no certificates', [named, basic(true), BOTH], 'E0716', 'E1200'],
    ['with a key usage without signing', [named, usage({ keyEncipherment: true })], 'E0716', 'E1200'],
    ['without the extension with the CNPJ', [BOTH], 'E0716', 'E1209'],
    ['for mail alone', [named, BOTH, { name: 'extKeyUsage', emailProtection: true }], '', 'E1200'],
  ])('%s is refused by its code, and as the channel by another', async (_case, extensions, signing, channel) => {
    const issuer = await openAuthority(harness.folder, harness.clock);
    const privateKeyPem = rsaKeyOf(2_048);
    const now = harness.clock.now();
    const certificatePem = certificateOfKey(privateKeyPem, { cnpj: COMPANY, now, extensions, issuer });
    const identity = { certificatePem, privateKeyPem };
    const codes = codesOf(await post(identity));
    expect(codes.filter((code) => code !== 'E0014').join()).toBe(signing);
    const refused = await harness.call('POST', '/nfse', { body: issueBody(harness, { number: 46 }), identity });
    expect([refused.status, codesOf(refused)]).toEqual([403, [channel]]);
  });

  it('may come from any authority of a bundle', async () => {
    const clock = testClock();
    const [first, second] = ['AC UM', 'AC DOIS'].map((subjectName) =>
      issueCertificate({ subjectName, validDays: 10, now: clock.now() }),
    );
    if (first === undefined || second === undefined) throw new Error('two authorities');
    const bundle = await openSimulatorHarness({
      clientAuthoritiesPem: [`${first.certificatePem}\n${second.certificatePem}`],
    });
    const identity = issueCertificate({
      subjectName: 'Empresa',
      cnpj: COMPANY,
      issuer: second,
      validDays: 10,
      now: clock.now(),
    });
    const body = issueBody(bundle, {}, identity);
    expect((await bundle.call('POST', '/nfse', { body, identity })).status).toBe(201);
    await bundle.close();
  });
});
