import { describe, expect, it } from 'vitest';
import { invoiceIn } from '../../support/fixture/invoice-states.js';
import { createHarness, type Harness } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

/** An invoice authorized at this instant, in any year: the certificate of its company does not expire. */
const issuedAt = async (at: string, mode: 'test' | 'live'): Promise<{ harness: Harness; id: string }> => {
  const harness = createHarness();
  const { certificate } = harness.company;
  if (certificate === undefined) throw new Error('the demo company has a certificate');
  Object.assign(certificate, { notBefore: '2020-01-01T00:00:00.000Z', notAfter: '2100-01-01T00:00:00.000Z' });
  harness.state.now = at;
  return { harness, id: await invoiceIn(harness, 'issued', mode) };
};

const cancelAt = async (at: string, { harness, id }: { harness: Harness; id: string }, key: 'test' | 'live') => {
  harness.state.now = at;
  return await harness.call(`/v1/nfse/${id}/cancel`, { key, json: {} });
};

/** Issued, `cancelable_until`, the last instant at which a cancel is accepted, the first at which it is refused. */
const months = [
  [
    'a month’s end',
    '2026-11-25T12:00:00.000Z',
    '2026-12-01T02:59:59.000Z',
    '2026-12-01T02:59:59.999Z',
    '2026-12-01T03:00:00.000Z',
  ],
  [
    'a year’s end',
    '2026-12-31T23:30:00.000Z',
    '2027-01-01T02:59:59.000Z',
    '2027-01-01T02:59:59.999Z',
    '2027-01-01T03:00:00.000Z',
  ],
  [
    'a February of 28 days',
    '2027-02-25T12:00:00.000Z',
    '2027-03-01T02:59:59.000Z',
    '2027-03-01T02:59:59.999Z',
    '2027-03-01T03:00:00.000Z',
  ],
  [
    'a February of 29 days',
    '2028-02-28T12:00:00.000Z',
    '2028-03-01T02:59:59.000Z',
    '2028-03-01T02:59:59.999Z',
    '2028-03-01T03:00:00.000Z',
  ],
  [
    'issued in the last second of a Brasília month, which in UTC is the next one',
    '2026-12-01T02:59:59.000Z',
    '2026-12-01T02:59:59.000Z',
    '2026-12-01T02:59:59.999Z',
    '2026-12-01T03:00:00.000Z',
  ],
  [
    'a month of 30 days',
    '2027-04-24T12:00:00.000Z',
    '2027-05-01T02:59:59.000Z',
    '2027-05-01T02:59:59.999Z',
    '2027-05-01T03:00:00.000Z',
  ],
] as const;

describe('POST /v1/nfse/{id}/cancel: the end of the Brasília month', () => {
  it.each(months)('%s: issued %s, open until %s', async (_what, issued, until, lastInstant, firstInstant) => {
    for (const mode of ['test', 'live'] as const) {
      for (const open of [until, lastInstant]) {
        const invoice = await issuedAt(issued, mode);
        const shown = await (await invoice.harness.call(`/v1/nfse/${invoice.id}`, { key: mode })).json();
        expect(shown).toMatchObject({ issued_at: issued, cancelable_until: until });
        const response = await cancelAt(open, invoice, mode);
        expect(response.status).toBe(202);
        expect(await response.json()).toMatchObject({ cancellation: { status: 'pending', requested_at: open } });
      }
      const late = await issuedAt(issued, mode);
      const response = await cancelAt(firstInstant, late, mode);
      const error = await expectRefusal(response, 422, 'nfse.cancel_window_closed');
      expect(error).toMatchObject({ retryable: false, livemode: mode === 'live' });
      expect(response.headers.get('retry-after')).toBeNull();
    }
  });

  it('an invoice of the first instant of December has all of December', async () => {
    const first = await issuedAt('2026-12-01T03:00:00.000Z', 'live');
    const shown = await (await first.harness.call(`/v1/nfse/${first.id}`, { key: 'live' })).json();
    expect(shown).toHaveProperty('cancelable_until', '2027-01-01T02:59:59.000Z');
    expect((await cancelAt('2027-01-01T02:59:59.999Z', first, 'live')).status).toBe(202);
  });

  it('a test invoice whose life ended with its month is not found, rather than closed', async () => {
    const invoice = await issuedAt('2026-11-24T03:00:00.000Z', 'test');
    expect((await cancelAt('2026-12-01T02:59:59.999Z', invoice, 'test')).status).toBe(202);
    await expectRefusal(await cancelAt('2026-12-01T03:00:00.000Z', invoice, 'test'), 404, 'not_found');
  });

  it('the same month of another year is closed', async () => {
    const invoice = await issuedAt('2026-11-20T12:00:00.000Z', 'live');
    const response = await cancelAt('2027-11-20T12:00:00.000Z', invoice, 'live');
    await expectRefusal(response, 422, 'nfse.cancel_window_closed');
  });
});
