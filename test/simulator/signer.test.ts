import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueCertificate } from '../../src/certificates/issue-certificate.js';
import { issueClientCertificate } from '../../src/simulator/authority.js';
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
