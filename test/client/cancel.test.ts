import { describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../src/client/client.js';
import { NoAnswerError } from '../../src/client/errors.js';
import type { Mode } from '../../src/domain/common/ids.js';
import type { InvoiceEvent } from '../../src/domain/invoice/events.js';
import { UNCATALOGUED_CODE } from '../support/fixture/uncatalogued-code.js';
import { BASE_URL, canceled, createHarness, type Harness, issuedInvoice, START } from '../support/harness/http.js';

type Loss = 'before the request arrives' | 'after it arrived';

type Given = { client: Client; id: string; harness: Harness; sent: string[]; breakLine(when: Loss): void };

const failed: InvoiceEvent = {
  type: 'CancellationNotConfirmed',
  data: { request: 1, reason: 'refused', codes: [UNCATALOGUED_CODE], at: START },
};

/** A client with an issued invoice. A broken line loses one POST and the first read after it, and meanwhile `outcome` is recorded. */
const given = async (mode: Mode, outcome: readonly InvoiceEvent[]): Promise<Given> => {
  const harness = createHarness();
  const id = await issuedInvoice(harness, mode);
  const sent: string[] = [];
  let loss: Loss | undefined;
  let readsToLose = 0;
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    sent.push(init.method ?? '');
    const lost = loss;
    if (init.method === 'POST' && lost !== undefined) {
      loss = undefined;
      readsToLose = 1;
      if (lost === 'after it arrived') {
        expect((await harness.app.request(url, init)).status).toBe(202);
        await harness.record(id, outcome, mode);
      }
      throw new TypeError('fetch failed');
    }
    if (readsToLose > 0) {
      readsToLose -= 1;
      throw new TypeError('fetch failed');
    }
    return await harness.app.request(url, init);
  };
  const client = createClient({ baseUrl: BASE_URL, key: harness.keys[mode], fetch, sleep: async () => {} });
  const breakLine = (when: Loss): void => {
    loss = when;
  };
  return { client, id, harness, sent, breakLine };
};

describe.each(['cancel', 'cancelAndWait'] as const)('%s whose answer is lost', (call) => {
  it('resolves in live mode with a cancellation that failed meanwhile', async () => {
    const { client, id, sent, breakLine } = await given('live', [failed]);
    breakLine('after it arrived');
    expect(await client[call](id)).toMatchObject({ id, status: 'issued', cancellation: { status: 'failed' } });
    expect(sent).toEqual(['POST', 'GET', 'GET']);
  });

  it.each(['live', 'test'] as const)(
    'resolves in %s mode with a cancellation that succeeded meanwhile',
    async (mode) => {
      const { client, id, breakLine } = await given(mode, [canceled()]);
      breakLine('after it arrived');
      expect(await client[call](id)).toMatchObject({ status: 'canceled', cancellation: { status: 'succeeded' } });
    },
  );

  it('rejects when the invoice shows no cancellation', async () => {
    const { client, id, sent, breakLine } = await given('live', []);
    breakLine('before the request arrives');
    await expect(client[call](id)).rejects.toBeInstanceOf(NoAnswerError);
    expect(sent).toEqual(['POST', 'GET', 'GET']);
  });

  it('rejects in test mode with a failed cancellation, which may be an earlier one', async () => {
    const { client, id, harness, breakLine } = await given('test', []);
    await client.cancel(id);
    await harness.record(id, [failed]);
    breakLine('before the request arrives');
    await expect(client[call](id)).rejects.toBeInstanceOf(NoAnswerError);
    expect(await client.cancel(id)).toMatchObject({ cancellation: { status: 'pending' } });
  });
});
