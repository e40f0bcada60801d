import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBodyBudget, FREE_BYTES, readJsonObject } from '../../../src/http/body/read-json-object.js';
import { listen } from '../../../src/http/server.js';
import { issueBodyOf } from '../../support/fixture/demo.js';
import { createHarness, type Harness, requestInit } from '../../support/harness/http.js';
import { commonHeadersOf, expectRefusal } from '../../support/harness/http-answers.js';

const MIB = 1024 * 1024;

describe('the budget of bodies', () => {
  it('never gives more than its limit, and has all of it again when the shares are back', () => {
    const size = fc.integer({ min: 0, max: 3 * MIB });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({ max: 4 }), size, fc.boolean()), { maxLength: 40 }), (steps) => {
        const budget = createBodyBudget(4 * MIB);
        const shares = Array.from({ length: 5 }, () => ({ share: budget.share(), covered: 0 }));
        for (const [index, bytes, gives] of steps) {
          const one = shares[index];
          if (one === undefined) continue;
          if (gives) {
            one.share.release();
            one.covered = 0;
          } else if (one.share.cover(bytes) && bytes > FREE_BYTES) one.covered = Math.max(one.covered, bytes);
          expect(shares.reduce((sum, { covered }) => sum + covered, 0)).toBeLessThanOrEqual(4 * MIB);
        }
        for (const { share } of shares) share.release();
        expect(budget.share().cover(4 * MIB)).toBe(true);
      }),
    );
  });

  it('asks nothing of small bodies, and is not left with the part of one that was refused', () => {
    const budget = createBodyBudget(MIB);
    const full = budget.share();
    const late = budget.share();
    expect(full.cover(MIB)).toBe(true);
    expect([late.cover(FREE_BYTES), late.cover(FREE_BYTES + 1)]).toEqual([true, false]);
    expect(late.cover(Number.NaN)).toBe(true);
    expect(late.cover(FREE_BYTES + 1)).toBe(false);
    full.release();
    expect(late.cover(MIB)).toBe(true);
  });
});

/** A body of 10 MiB that pauses before its end until the test releases it. */
const heldBody = () => {
  const bytes = new TextEncoder().encode(JSON.stringify(issueBodyOf()).padEnd(10 * MIB, ' '));
  let letGo = (): void => {};
  const released = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let stopped = (): void => {};
  const isHeld = new Promise<void>((resolve) => {
    stopped = resolve;
  });
  let sent = false;
  const stream = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      if (!sent) {
        sent = true;
        return controller.enqueue(bytes);
      }
      stopped();
      await released;
      controller.close();
    },
  });
  return { stream, isHeld, letGo };
};

const post = (harness: Harness, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  Promise.resolve(
    harness.app.request('/v1/nfse', {
      ...requestInit({ raw: '', headers }, harness.keys),
      body,
      duplex: 'half',
    } as RequestInit),
  );

describe(`${readJsonObject.name}: 503 while the bodies in flight fill 64 MiB`, () => {
  it('for large bodies only, declared or counted, and no longer than that', async () => {
    const harness = createHarness();
    const held = Array.from({ length: 6 }, heldBody);
    const answers = held.map(({ stream }) => post(harness, stream));
    await Promise.all(held.map(({ isHeld }) => isHeld));

    const counted = await post(harness, JSON.stringify(issueBodyOf()).padEnd(5 * MIB, ' '));
    const declared = await post(harness, '{}', { 'content-length': String(5 * MIB) });
    for (const response of [counted, declared]) {
      expect(commonHeadersOf(response)).toEqual({ 'retry-after': expect.stringMatching(/^[1-9]\d*$/) });
      expect(await expectRefusal(response, 503, 'service_unavailable')).toMatchObject({
        retryable: true,
        livemode: false,
      });
    }
    expect((await harness.call('/v1/nfse', { json: issueBodyOf({ amount_in_cents: 777 }) })).status).toBe(202);
    const tooLarge = await post(harness, '{}', { 'content-length': String(10 * MIB + 1) });
    await expectRefusal(tooLarge, 413, 'payload_too_large');

    for (const { letGo } of held) letGo();
    expect((await Promise.all(answers)).map(({ status }) => [202, 409].includes(status))).not.toContain(false);
    const raw = JSON.stringify(issueBodyOf({ amount_in_cents: 888 })).padEnd(10 * MIB, ' ');
    expect((await harness.call('/v1/nfse', { raw })).status).toBe(202);
  });

  it('gives the share of a body that breaks off back', async () => {
    const harness = createHarness();
    for (let n = 0; n < 8; n += 1) {
      const breaking = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new Uint8Array(9 * MIB)),
        pull: (controller) => controller.error(new Error('the client went away')),
      });
      await expectRefusal(await post(harness, breaking), 400, 'invalid_request');
    }
    const raw = JSON.stringify(issueBodyOf()).padEnd(10 * MIB, ' ');
    expect((await harness.call('/v1/nfse', { raw })).status).toBe(202);
  });

  it('holds for connections that declare a body and do not send it, until they are gone', async () => {
    const harness = createHarness({ rateLimits: { write: 10_000, read: 1 } });
    const server = await listen(harness.app, { host: '127.0.0.1', port: 0 });
    const head = `POST /v1/nfse HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${harness.keys.test}\r\nContent-Type: application/json\r\nContent-Length: ${10 * MIB}\r\n\r\n{`;
    const sockets = Array.from({ length: 6 }, () => connect(Number(new URL(server.url).port), '127.0.0.1'));
    for (const socket of sockets) socket.write(head);
    let amount = 1_000;
    const statusOf = async (bytes: number): Promise<number> => {
      amount += 1;
      const raw = JSON.stringify(issueBodyOf({ amount_in_cents: amount })).padEnd(bytes, ' ');
      const response = await fetch(`${server.url}/v1/nfse`, requestInit({ raw }, harness.keys));
      await response.text();
      return response.status;
    };
    await expect.poll(() => statusOf(5 * MIB)).toBe(503);
    expect(await statusOf(1_000)).toBe(202);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => statusOf(10 * MIB)).toBe(202);
    expect(harness.faults).toEqual([]);
    await server.close(0);
  });
});
