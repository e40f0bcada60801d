import { describe, expect, it } from 'vitest';
import { exportBodyOf, issueBodyOf, MAIN_CNAE } from '../../support/fixture/demo.js';
import { createHarness } from '../../support/harness/http.js';

const accepted = async (json: object): Promise<Record<string, unknown>> => {
  const response = await createHarness().call('/v1/nfse', { json });
  expect(response.status).toBe(202);
  return (await response.json()) as Record<string, unknown>;
};

describe('POST /v1/nfse: the line used', () => {
  it('nothing sent: the default line of the main activity', async () => {
    expect(await accepted(issueBodyOf())).toMatchObject({ cnae: MAIN_CNAE, service_code: '010101' });
  });

  it('cnae: its default line', async () => {
    expect(await accepted(issueBodyOf({ cnae: MAIN_CNAE }))).toMatchObject({ cnae: MAIN_CNAE, service_code: '010101' });
  });

  it('cnae and service_code: the exact line, default or not', async () => {
    const sent = { cnae: '6202300', service_code: '010301' };
    expect(await accepted(issueBodyOf(sent))).toMatchObject(sent);
  });

  it('service_code: the first line with that code', async () => {
    expect(await accepted(issueBodyOf({ service_code: '010301' }))).toMatchObject({ cnae: '6202300' });
    expect(await accepted(issueBodyOf({ service_code: '010201' }))).toMatchObject({ cnae: MAIN_CNAE });
  });

  it.each([MAIN_CNAE, '6209100'])('service_code of two activities: the main one, here %s', async (main) => {
    const { call, company } = createHarness();
    const activities = ['6209100', MAIN_CNAE, '6202300'].map((cnae) => ({ cnae, isMain: cnae === main }));
    Object.assign(company.registration, { activities });
    const response = await call('/v1/nfse', { json: issueBodyOf({ service_code: '010201' }) });
    expect(await response.json()).toMatchObject({ cnae: main, service_code: '010201' });
  });
});

describe('POST /v1/nfse: what the answer shows of the customer', () => {
  it('a Brazilian one: document, name and type, in this order', async () => {
    const { customer } = await accepted(issueBodyOf({ customer: { document: '12345678909', name: 'Ana' } }));
    expect(JSON.stringify(customer)).toBe('{"document":"12345678909","name":"Ana","type":"br"}');
  });

  it('a foreign one: tax id, whole address and foreign_amount as sent', async () => {
    const sent = exportBodyOf() as { customer: object; foreign_amount: object };
    const body = await accepted(sent);
    expect(body.customer).toEqual(sent.customer);
    expect(body.foreign_amount).toEqual(sent.foreign_amount);
  });

  it('the reason of an absent tax id', async () => {
    const sent = exportBodyOf({}, { tax_id: undefined, tax_id_absence_reason: 'exempt' });
    const { customer } = await accepted(sent);
    expect(customer).toMatchObject({ type: 'foreign', tax_id_absence_reason: 'exempt' });
    expect(customer).not.toHaveProperty('tax_id');
  });

  it('reference unchanged, and none when none was sent', async () => {
    expect(await accepted(issueBodyOf({ reference: 'Pedido/1042#é' }))).toHaveProperty('reference', 'Pedido/1042#é');
    expect(await accepted(issueBodyOf())).not.toHaveProperty('reference');
  });
});
