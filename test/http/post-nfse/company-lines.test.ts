import { describe, expect, it } from 'vitest';
import { catalogue, issueBodyOf, MAIN_CNAE } from '../../support/fixture/demo.js';
import { createHarness, type Harness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';
import { acceptedBody } from './post.js';

/** A company of these activities, the first one its main. */
const companyOf = (...cnaes: readonly string[]): Harness => {
  const harness = createHarness();
  const activities = cnaes.map((cnae, index) => ({ cnae, isMain: index === 0 }));
  harness.company.registration = { ...harness.company.registration, activities };
  return harness;
};

describe('POST /v1/nfse: nothing sent, and a main activity that cannot be used', () => {
  it.each([
    ['6399200', 'nfse.cnae_missing_ctribnac'],
    ['6202300', 'nfse.cnae_without_default'],
    ['6203100', 'nfse.cnae_not_allowed'],
    ['6204000', 'nfse.cnae_missing_nbs'],
    ['6311900', 'nfse.nbs_invalid'],
  ])('%s: %s, whatever the secondary ones are', async (main, code) => {
    const response = await companyOf(main, MAIN_CNAE).call('/v1/nfse', { json: issueBodyOf() });
    await expectRefusal(response, 422, code);
  });
});

describe('POST /v1/nfse: a cnae that was sent', () => {
  it.each([
    ['9602501', 'nfse.cnae_not_allowed'],
    ['6203100', 'nfse.cnae_not_allowed'],
    ['6399200', 'nfse.cnae_missing_ctribnac'],
    ['6202300', 'nfse.cnae_without_default'],
  ])('%s: %s', async (cnae, code) => {
    const { call } = companyOf(MAIN_CNAE, '6203100', '6399200', '6202300');
    await expectRefusal(await call('/v1/nfse', { json: issueBodyOf({ cnae }) }), 422, code);
  });

  it('of a secondary activity: its own default line', async () => {
    const { call } = companyOf('6202300', MAIN_CNAE);
    const body = await acceptedBody(await call('/v1/nfse', { json: issueBodyOf({ cnae: MAIN_CNAE }) }));
    expect(body).toMatchObject({ cnae: MAIN_CNAE, service_code: '010101' });
  });
});

describe('POST /v1/nfse: cnae and service_code', () => {
  it('must be of the same line, though the company has both', async () => {
    const { call } = companyOf(MAIN_CNAE, '6202300');
    const json = issueBodyOf({ cnae: MAIN_CNAE, service_code: '010301' });
    await expectRefusal(await call('/v1/nfse', { json }), 422, 'nfse.service_code_not_allowed');
  });

  it('of a blocked line are not allowed', async () => {
    const { call } = companyOf(MAIN_CNAE, '6203100');
    const json = issueBodyOf({ cnae: '6203100', service_code: '010401' });
    await expectRefusal(await call('/v1/nfse', { json }), 422, 'nfse.service_code_not_allowed');
  });
});

describe('POST /v1/nfse: service_code alone', () => {
  it.each(['1', '0101', '01010', '999999', '6201501', '0'.repeat(30)])('%s is in no catalogue', async (code) => {
    const { call } = createHarness();
    const response = await call('/v1/nfse', { json: issueBodyOf({ service_code: code }) });
    await expectRefusal(response, 422, 'nfse.service_code_unknown');
  });

  it.each(['140101', '010401', '010601'])(
    '%s is in the catalogue, and not in the lines of this company',
    async (code) => {
      const { call } = companyOf(MAIN_CNAE, '6203100');
      const response = await call('/v1/nfse', { json: issueBodyOf({ service_code: code }) });
      await expectRefusal(response, 422, 'nfse.service_code_not_allowed');
    },
  );

  it('takes the main activity wherever it stands, then the order of the company file', async () => {
    const other = { ...catalogue.linesOf('6202300')[0], cnae: '6399200', serviceCode: '010201' };
    const harness = companyOf('6399200', '6209100', MAIN_CNAE);
    harness.state.catalogue = {
      ...catalogue,
      linesOf: (cnae) => (cnae === '6399200' ? [other as never] : catalogue.linesOf(cnae)),
    };
    const usedWith = async (...order: readonly [string, boolean][]): Promise<unknown> => {
      const activities = order.map(([cnae, isMain]) => ({ cnae, isMain }));
      harness.company.registration = { ...harness.company.registration, activities };
      harness.pass(61);
      return (await acceptedBody(await harness.call('/v1/nfse', { json: issueBodyOf({ service_code: '010201' }) })))
        .cnae;
    };
    expect(await usedWith(['6209100', false], [MAIN_CNAE, false], ['6399200', true])).toBe('6399200');
    expect(await usedWith(['6209100', false], [MAIN_CNAE, false], ['6202300', true])).toBe('6209100');
    expect(await usedWith([MAIN_CNAE, false], ['6209100', false], ['6202300', true])).toBe(MAIN_CNAE);
  });
});

describe('POST /v1/nfse: the certificate of the company', () => {
  it.each([
    ['2025-12-31T23:59:59.999Z', false],
    ['2026-01-01T00:00:00.000Z', true],
    ['2026-12-31T23:59:59.999Z', true],
    ['2027-01-01T00:00:00.000Z', false],
  ])('at %s it is valid: %s', async (now, valid) => {
    const { call, state } = createHarness();
    state.now = now;
    const response = await call('/v1/nfse', { json: issueBodyOf() });
    if (valid) await acceptedBody(response);
    else await expectRefusal(response, 422, 'company.certificate_missing');
  });
});
