import { describe, expect, it } from 'vitest';
import { invoiceStatus } from '../../../src/domain/invoice/status.js';
import { OTHER_CNPJ } from '../../support/fixture/demo.js';
import { acceptedOf, arrangements, codeOf } from '../../support/harness/accept.js';

describe.each(arrangements)('accepting an invoice%s', (_where, open) => {
  it('answers with the state of what it stored', async () => {
    const harness = open();
    const invoice = acceptedOf(await harness.post({ reference: 'r' }));
    expect(invoiceStatus(invoice)).toBe('queued');
    expect(invoice.facts).toMatchObject({ reference: 'r', cnae: '6201501', serviceCode: '010101' });
    const [event] = await harness.acceptances();
    expect(event?.metadata).toMatchObject({ actor: 'apiKey:key_1', correlationId: 'req_1', mode: 'live' });
  });

  it('prefers the registry’s name of a CNPJ to the sent one', async () => {
    const harness = open();
    const customer = { document: OTHER_CNPJ, name: 'Nome enviado' };
    expect(acceptedOf(await harness.post({ customer })).facts.customer).toMatchObject({
      name: 'CLIENTE REGISTRADO SA',
    });
  });

  it('falls back to the sent name when the registry does not know the CNPJ', async () => {
    const harness = open();
    const customer = { document: '11444777000161', name: 'Nome enviado' };
    expect(acceptedOf(await harness.post({ customer })).facts.customer).toMatchObject({ name: 'Nome enviado' });
    expect(harness.asked).toEqual(['11444777000161']);
  });

  it('does not ask the registry about a person', async () => {
    const harness = open();
    const customer = { document: '52998224725', name: 'Fulano' };
    expect(acceptedOf(await harness.post({ customer })).facts.customer).toMatchObject({ name: 'Fulano' });
    expect(harness.asked).toEqual([]);
  });

  it('expands markers by the day of receipt in Brasília', async () => {
    const harness = open();
    harness.clock.moveTo('2026-12-01T02:00:00.000Z');
    const { facts } = acceptedOf(await harness.post({ description: 'Mês {{mes}} de {{ano}} {{outra}}' }));
    expect(facts).toMatchObject({ description: 'Mês 11 de 2026 {{outra}}', competence: '2026-11-30' });
  });

  it('stores nothing for a refused request', async () => {
    const harness = open();
    harness.company.current = {
      ...harness.company.current,
      registration: { ...harness.company.current.registration, automaticIssuance: false },
    };
    expect(codeOf(await harness.post())).toBe('company.issuer_not_enabled');
    expect(await harness.acceptances()).toEqual([]);
  });
});
