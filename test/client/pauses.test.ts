import { afterEach, describe, expect, it, vi } from 'vitest';
import { ApiError, NoAnswerError } from '../../src/client/errors.js';
import {
  busyFor,
  clientWith,
  invoiceThatIs,
  lost,
  methodsOf,
  overLimitFor,
  proxy,
  proxyThatWants,
  refusal,
  rejectionOf,
} from '../support/harness/scripted-client.js';

const request = { amount_in_cents: 100, description: 'x' };

const HOUR_MS = 3_600_000;

afterEach(() => {
  vi.restoreAllMocks();
});

describe('Retry-After', () => {
  it.each(['61', '90000', '999999', '1000000', '9'.repeat(400)])(
    'of %s s makes no longer pause than the longest of the API',
    async (retryAfter) => {
      const { client, slept } = clientWith(proxyThatWants(retryAfter), invoiceThatIs('queued'));
      await client.issue(request);
      expect(slept).toEqual([60_000]);
    },
  );

  it('of a 202 makes no longer pause between reads either', async () => {
    const accepted = Response.json(
      { object: 'nfse', id: 'nfse_1', status: 'queued' },
      { status: 202, headers: { 'retry-after': '90000' } },
    );
    const { client, slept } = clientWith(() => accepted, invoiceThatIs('queued'), invoiceThatIs('issued'));
    await client.issueAndWait(request);
    expect(slept).toEqual([60_000]);
  });
});

describe('the 24 hours of an Idempotency-Key', () => {
  it('end the repeats an hour before, however long a try lasts', async () => {
    const given = clientWith(() => {
      given.pass(12 * HOUR_MS);
      return lost({});
    });
    const error = await rejectionOf(given.client.issue(request, { idempotencyKey: 'k-1' }));
    expect(error).toBeInstanceOf(NoAnswerError);
    expect(error).toMatchObject({ idempotencyKey: 'k-1' });
    expect(given.sent).toHaveLength(2);
    expect(given.sent.at(-1)?.at).toBeLessThan(23 * HOUR_MS);
  });

  it('go by while the machine sleeps, which stops the clock of the process', async () => {
    let today = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => today);
    const { client, sent } = clientWith(() => {
      today += 23 * HOUR_MS;
      return lost({});
    });
    expect(await rejectionOf(client.issue(request))).toBeInstanceOf(NoAnswerError);
    expect(sent).toHaveLength(1);
  });

  it('do not end the repeats of a read, which has no key', async () => {
    const given = clientWith(() => {
      given.pass(24 * HOUR_MS);
      return lost({});
    }, invoiceThatIs('issued'));
    expect(await given.client.get('nfse_1')).toMatchObject({ status: 'issued' });
  });
});

describe('a request over the rate limit', () => {
  const turnedAway = Array.from({ length: 10 }, () => overLimitFor(60));

  it('waits for its place, and is not among the tries', async () => {
    const answers = [...turnedAway, proxy, proxy, proxy, proxy, proxy, invoiceThatIs('queued')];
    const { client, sent } = clientWith(...answers);
    expect(await client.issue(request)).toMatchObject({ status: 'queued' });
    expect(new Set(sent.map(({ key }) => key)).size).toBe(1);
    expect(sent).toHaveLength(16);
  });

  it('is sent again as a cancel too, because nothing was done', async () => {
    const { client, sent, slept } = clientWith(...turnedAway, invoiceThatIs('issued', 'pending'));
    expect(await client.cancel('nfse_1')).toMatchObject({ cancellation: { status: 'pending' } });
    expect(new Set(methodsOf({ sent }))).toEqual(new Set(['POST']));
    expect(slept).toEqual(turnedAway.map(() => 60_000));
  });

  it('is a cancel that leaves no more once an answer was lost', async () => {
    const { client, sent } = clientWith(overLimitFor(2), lost, invoiceThatIs('issued', 'pending'));
    await client.cancel('nfse_1');
    expect(methodsOf({ sent })).toEqual(['POST', 'POST', 'GET']);
  });

  it('is a cancel that the API then refuses', async () => {
    const { client } = clientWith(overLimitFor(2), refusal(409, 'nfse.already_canceled'));
    const error = await rejectionOf(client.cancel('nfse_1'));
    expect(error).toMatchObject({ code: 'nfse.already_canceled', mayHaveArrived: false });
  });

  it('waits no longer than 80 minutes, or than withinMs', async () => {
    const always = clientWith(overLimitFor(60));
    expect(await rejectionOf(always.client.cancel('nfse_1'))).toMatchObject({ code: 'rate_limit_exceeded' });
    expect(always.sent).toHaveLength(80);
    const brief = clientWith(overLimitFor(60));
    const error = await rejectionOf(brief.client.cancelAndWait('nfse_1', {}, { withinMs: 150_000 }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 'rate_limit_exceeded', mayHaveArrived: false });
    expect(brief.sent.map(({ at }) => at)).toEqual([0, 60_000, 120_000]);
    const issue = clientWith(overLimitFor(60));
    await rejectionOf(issue.client.issueAndWait(request, { withinMs: 150_000 }));
    expect(issue.sent.map(({ at }) => at)).toEqual([0, 60_000, 120_000]);
    const none = clientWith(overLimitFor(60));
    await rejectionOf(none.client.cancelAndWait('nfse_1', {}, { withinMs: 0 }));
    expect(none.sent).toHaveLength(1);
  });

  it('is a cancel that a proxy turned away, which proves nothing: the invoice tells', async () => {
    const { client, sent } = clientWith(() => new Response('slow down', { status: 429 }), invoiceThatIs('issued'));
    expect(await rejectionOf(client.cancel('nfse_1'))).toMatchObject({ name: 'NoAnswerError', status: 429 });
    expect(methodsOf({ sent })).toEqual(['POST', 'GET']);
  });

  it('is no cancel that is answered 503', async () => {
    const { client, sent } = clientWith(busyFor(1), invoiceThatIs('issued'));
    await rejectionOf(client.cancel('nfse_1'));
    expect(methodsOf({ sent })).toEqual(['POST', 'GET']);
  });
});
