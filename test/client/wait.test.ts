import { describe, expect, it } from 'vitest';
import { ApiError, NoAnswerError, StillWaitingError } from '../../src/client/errors.js';
import {
  type Answer,
  busyFor,
  clientWith,
  invoiceThatIs,
  proxy,
  rejectionOf,
} from '../support/harness/scripted-client.js';

/** Takes the request and never answers. */
const silence: Answer = ({ signal }) =>
  new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
  });

const request = { amount_in_cents: 100, description: 'x' };

describe('withinMs', () => {
  it('reads an invoice once when it has no time', async () => {
    const issued = invoiceThatIs('issued');
    const { client, sent } = clientWith(async (init) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      init.signal?.throwIfAborted();
      return await issued(init);
    });
    expect(await client.waitForOutcome('nfse_1', { withinMs: 0 })).toMatchObject({ status: 'issued' });
    expect(sent).toHaveLength(1);
  });

  it('reads nothing after the 202 when it has no time', async () => {
    const { client, sent } = clientWith(invoiceThatIs('queued'));
    const error = await rejectionOf(client.issueAndWait(request, { withinMs: 0 }));
    expect(error).toMatchObject({ name: 'StillWaitingError', invoice: { status: 'queued' } });
    expect(sent).toHaveLength(1);
  });

  it('ends the repeats of a read behind a proxy that does not reach the service', async () => {
    const { client, slept } = clientWith(proxy);
    const error = await rejectionOf(client.waitForOutcome('nfse_1', { withinMs: 2_000 }));
    expect(error).toBeInstanceOf(NoAnswerError);
    expect(error).toMatchObject({ status: 503 });
    expect(slept).toEqual([500, 1_000, 500]);
  });

  it('gives up a read that nobody answers, long before its time-out', async () => {
    const silent = clientWith((init) => {
      init.signal?.addEventListener('abort', () => silent.pass(20));
      return silence(init);
    });
    const error = await rejectionOf(silent.client.waitForOutcome('nfse_1', { withinMs: 20 }));
    expect(error).toBeInstanceOf(NoAnswerError);
    expect(silent.sent).toHaveLength(1);
    expect(silent.slept).toEqual([]);
  });

  it('takes a part of a millisecond', async () => {
    const { client } = clientWith(invoiceThatIs('issued'));
    expect(await client.waitForOutcome('nfse_1', { withinMs: 20_000.5 })).toMatchObject({ status: 'issued' });
  });

  it('lets a read that fails for a while be repeated', async () => {
    const { client, slept } = clientWith(proxy, busyFor(2), proxy, invoiceThatIs('issued'));
    expect(await client.waitForOutcome('nfse_1', { withinMs: 60_000 })).toMatchObject({ status: 'issued' });
    expect(slept).toEqual([500, 2_000, 2_000]);
  });

  it('asks no sooner than Retry-After wants, also when the time ends before', async () => {
    const { client, sent, slept } = clientWith(busyFor(60));
    const error = await rejectionOf(client.waitForOutcome('nfse_1', { withinMs: 10_000 }));
    expect(error).toBeInstanceOf(ApiError);
    expect(sent).toHaveLength(1);
    expect(slept).toEqual([10_000]);
  });

  it('ends with the invoice as it was read last, and why the last read failed', async () => {
    const { client } = clientWith(invoiceThatIs('processing'), proxy);
    const error = await rejectionOf(client.waitForOutcome('nfse_1', { withinMs: 5_000 }));
    expect(error).toBeInstanceOf(StillWaitingError);
    expect(error).toMatchObject({ invoice: { status: 'processing' }, cause: { name: 'NoAnswerError', status: 503 } });
  });

  it('counts the request to issue, and never ends it: it is repeated with its key until its outcome is known', async () => {
    const { client, sent } = clientWith(proxy, proxy, proxy, invoiceThatIs('queued'));
    const error = await rejectionOf(client.issueAndWait(request, { idempotencyKey: 'k-1', withinMs: 2_000 }));
    expect(error).toBeInstanceOf(StillWaitingError);
    expect(error).toMatchObject({ invoice: { id: 'nfse_1', status: 'queued' } });
    const at = [0, 500, 1_500, 3_500];
    expect(sent).toEqual(at.map((ms) => ({ method: 'POST', key: 'k-1', at: ms })));
  });

  it('leaves the reads of issueAndWait what the request did not take', async () => {
    const { client, slept } = clientWith(proxy, proxy, proxy, invoiceThatIs('queued'));
    const error = await rejectionOf(client.issueAndWait(request, { withinMs: 10_000 }));
    expect(error).toBeInstanceOf(StillWaitingError);
    expect((error as StillWaitingError).cause).toBeUndefined();
    expect(slept).toEqual([500, 1_000, 2_000, 3_000, 3_000]);
  });

  it('counts the request to cancel, and never ends the read that tells whether it arrived', async () => {
    const { client, sent } = clientWith(proxy, proxy, proxy, proxy, invoiceThatIs('issued', 'pending'));
    const error = await rejectionOf(client.cancelAndWait('nfse_1', {}, { withinMs: 2_000 }));
    expect(error).toMatchObject({ name: 'StillWaitingError', invoice: { cancellation: { status: 'pending' } } });
    expect(sent.map(({ method, at }) => [method, at])).toEqual([
      ['POST', 0],
      ['GET', 0],
      ['GET', 500],
      ['GET', 1_500],
      ['GET', 3_500],
    ]);
  });
});

describe('a cancel that is answered with 503', () => {
  it('resolves when the invoice shows that it arrived', async () => {
    const { client, sent } = clientWith(busyFor(1), invoiceThatIs('issued', 'pending'));
    expect(await client.cancel('nfse_1')).toMatchObject({ cancellation: { status: 'pending' } });
    expect(sent.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  it('rejects with the 503 when the invoice shows none', async () => {
    const { client } = clientWith(busyFor(1), invoiceThatIs('issued'));
    expect(await rejectionOf(client.cancel('nfse_1'))).toMatchObject({ status: 503 });
  });
});
