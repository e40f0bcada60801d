import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { attempted, authorized, createHarness, queuedInvoice } from '../../support/harness/http.js';
import { expectRefusal } from '../../support/harness/http-answers.js';

it('GET /v1/nfse/{id}/xml 500: a document that would unpack to more than 2 MiB is not unpacked', async () => {
  const harness = createHarness();
  const id = await queuedInvoice(harness);
  const { now } = harness.state;
  const nfseXmlGzip = gzipSync(Buffer.alloc(2 * 1024 * 1024 + 1)).toString('base64');
  const event = authorized(now);
  if (event.type !== 'Authorized') throw new Error('another event than the name says');
  await harness.record(id, [attempted(now), { ...event, data: { ...event.data, nfseXmlGzip } }]);
  await expectRefusal(await harness.call(`/v1/nfse/${id}/xml`), 500, 'internal_error');
  expect(harness.faults).toHaveLength(1);
});
