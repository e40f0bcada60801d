import { describe, expect, it } from 'vitest';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { createHarness, type Harness, issuedInvoice } from '../../support/harness/http.js';
import { type ErrorBody, expectCauses, expectRefusal } from '../../support/harness/http-answers.js';

type Sent = { json?: unknown; raw?: string | Uint8Array };

const cancelIssued = async (sent: Sent): Promise<{ harness: Harness; id: string; response: Response }> => {
  const harness = createHarness();
  const id = await issuedInvoice(harness);
  return { harness, id, response: await harness.call(`/v1/nfse/${id}/cancel`, sent) };
};

/** What the log holds of the request: the description is in no answer, the authorizer gets it. */
const recorded = async (json: object): Promise<{ reason: string; description: string }> => {
  const { harness, id, response } = await cancelIssued({ json });
  expect(response.status).toBe(202);
  const { events } = await harness.store.load(invoiceStream('test', DEMO_CNPJ, id.replace('nfse_', '')));
  const request = events.find(({ type }) => type === 'CancellationRequested');
  if (request?.type !== 'CancellationRequested') throw new Error('the request was not recorded');
  const { reason, description = 'the key of the description is gone' } = request.data;
  return { reason, description };
};

const refused = async (sent: Sent, fields: readonly string[]): Promise<ErrorBody> => {
  const { response } = await cancelIssued(sent);
  const error = await expectRefusal(response, 400, 'invalid_request');
  expectCauses(error, fields);
  expect(error.message).toBe(error.errors?.[0]?.message);
  expect(error.param).toBe(fields[0] === '' ? undefined : fields[0]);
  return error;
};

describe('POST /v1/nfse/{id}/cancel: defaults', () => {
  it('without a reason it is other; each reason has a description of its own, fit to be sent', async () => {
    const defaults = new Set<string>();
    for (const sent of [{}, { reason: 'other' }, { reason: 'issuance_error' }, { reason: 'service_not_provided' }]) {
      const { reason, description } = await recorded(sent);
      expect(reason).toBe(sent.reason ?? 'other');
      expect([...description].length).toBeGreaterThanOrEqual(15);
      expect([...description].length).toBeLessThanOrEqual(255);
      defaults.add(description);
    }
    expect(defaults.size).toBe(3);
  });

  it('a description is recorded as sent, beside any reason or none', async () => {
    const description = ' Cliente – “desistiu”\nantes do início ';
    expect(await recorded({ description })).toMatchObject({ reason: 'other', description });
    expect(await recorded({ description, reason: 'issuance_error' })).toMatchObject({ description });
  });
});

describe('POST /v1/nfse/{id}/cancel: description', () => {
  it.each([
    ['15 letters', 'x'.repeat(15)],
    ['15 accented letters', 'ã'.repeat(15)],
    ['255 letters', 'x'.repeat(255)],
    ['255 accented letters', 'ç'.repeat(255)],
    ['255 of ß, which stays one letter', 'ß'.repeat(255)],
    ['15 letters and blanks around them', `  ${'x'.repeat(15)}\n`],
    ['a line break', `${'x'.repeat(10)}\n${'y'.repeat(10)}`],
    ['letters with a mark that go as one', 'e\u0301'.repeat(15)],
  ])('takes %s', async (_what, description) => {
    expect((await recorded({ description })).description).toBe(description);
  });

  it('takes CR LF and CR for LF (TEXT-5)', async () => {
    const { description } = await recorded({ description: 'um motivo\r\nem duas\rlinhas' });
    expect(description).toBe('um motivo\nem duas\nlinhas');
  });

  it.each([
    ['14 letters', 'x'.repeat(14)],
    ['256 letters', 'x'.repeat(256)],
    ['256 accented letters', 'ç'.repeat(256)],
    ['nothing', ''],
    ['one letter', 'x'],
    ['blanks alone', ' '.repeat(20)],
    ['line breaks alone', '\n'.repeat(20)],
    ['other blanks', '\u00a0\u2003'.repeat(10)],
    ['14 letters and blanks around them', `  ${'x'.repeat(14)}  `],
    ['8 letters with marks, 16 characters', 'e\u0301'.repeat(8)],
    ['what has no Latin form', '取消'.repeat(10)],
    ['one emoji', `${'x'.repeat(20)}😀`],
    ['what grows over the limit in the document', 'œ'.repeat(200)],
    ['254 letters and one that becomes two', `${'x'.repeat(254)}œ`],
    ['a tab', `${'x'.repeat(20)}\t`],
    ['a zero', `${'x'.repeat(20)}\u0000`],
    ['half a character', `${'x'.repeat(20)}\ud800`],
    ['what XML cannot carry', `${'x'.repeat(20)}\uffff`],
  ])('refuses %s', async (_what, description) => {
    await refused({ json: { description } }, ['description']);
  });

  it('names both limits, whichever is broken', async () => {
    for (const description of ['x'.repeat(14), 'x'.repeat(256)])
      expect((await refused({ json: { description } }, ['description'])).message).toMatch(/\b(?:15|255)\b/);
  });
});

describe('POST /v1/nfse/{id}/cancel: other bodies', () => {
  it.each(['toString', '__proto__', 'constructor', 'hasOwnProperty', 'Reason', 'motivo', ''])(
    'the unknown field "%s"',
    async (name) => {
      await refused({ raw: `{${JSON.stringify(name)}:1}` }, [name]);
    },
  );

  it('lists every cause in the order of the body', async () => {
    const json = { motive: 1, description: 'x', reason: 'because', constructor: null };
    await refused({ json }, ['motive', 'description', 'reason', 'constructor']);
  });

  it.each([null, 1, true, [], {}, '', 'OTHER', ' other', 'issuance_error '])('reason is not %j', async (reason) => {
    const { message } = await refused({ json: { reason } }, ['reason']);
    expect(message).toMatch(/issuance_error.*service_not_provided.*other/);
  });

  it.each([null, 1, true, [], {}])('description is not %j', async (description) => {
    await refused({ json: { description } }, ['description']);
  });

  it.each(['null', '[]', '"x"', '1', 'false'])('%s is no object', async (raw) => {
    const { response } = await cancelIssued({ raw });
    const error = await expectRefusal(response, 400, 'invalid_request');
    expect(error.errors).toEqual([{ code: 'invalid_request', message: error.message }]);
  });

  it.each(['', ' ', '{', '{}{}', "{'reason':'other'}"])('%j is no JSON', async (raw) => {
    const { response } = await cancelIssued({ raw });
    const error = await expectRefusal(response, 400, 'malformed_json');
    expect(error).not.toHaveProperty('errors');
  });

  it('the last of two equal keys counts, and a byte order mark is skipped', async () => {
    const { response } = await cancelIssued({ raw: '\ufeff{"reason":null,"reason":"issuance_error"}' });
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ cancellation: { reason: 'issuance_error' } });
  });
});
