import { describe, expect, it } from 'vitest';
import { BASE_URL, createHarness, issuedInvoice } from '../../support/harness/http.js';

describe('GET /v1/nfse/{id}/xml by links of two generations', () => {
  it('serves a link made before midnight UTC and one made after, each for its whole 15 minutes', async () => {
    const harness = createHarness();
    const id = await issuedInvoice(harness);
    const freshLink = async (): Promise<string> => {
      const body = (await (await harness.call(`/v1/nfse/${id}`)).json()) as { links: { xml: string } };
      return body.links.xml.replace(BASE_URL, '');
    };
    const statusAt = async (now: string, link: string): Promise<number> => {
      harness.state.now = now;
      return (await harness.call(link, { key: 'none' })).status;
    };
    harness.state.now = '2026-11-21T23:44:30.000Z';
    const old = await freshLink();
    harness.state.now = '2026-11-21T23:50:00.000Z';
    const young = await freshLink();
    expect(await statusAt('2026-11-21T23:59:29.999Z', old)).toBe(200);
    expect(await statusAt('2026-11-21T23:59:29.999Z', young)).toBe(200);
    expect(await statusAt('2026-11-21T23:59:30.000Z', old)).toBe(401);
    expect(await statusAt('2026-11-22T00:04:59.999Z', young)).toBe(200);
    expect(await statusAt('2026-11-22T00:05:00.000Z', young)).toBe(401);
  });
});
