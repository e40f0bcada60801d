import { describe, expect, it, vi } from 'vitest';
import { createMemoryQueue } from '../../src/adapters/queue-memory/memory-queue.js';
import { StreamContended } from '../../src/app/event-store/transact.js';
import { concludeCancellationIfDue } from '../../src/app/issuing/cancellation.js';
import { invoiceStream } from '../../src/domain/common/ids.js';
import { SchemaViolation } from '../../src/ports/documents.js';
import { EventLogUnavailable } from '../../src/ports/event-log.js';
import type { Delivery, HandlingResult } from '../../src/ports/work-queue.js';
import { runIssuer } from '../../src/workers/issuer.js';
import { runRelay } from '../../src/workers/relay.js';
import { accepted, cancelRequested } from '../support/fixture/invoice.js';
import { appendTo } from '../support/harness/event-store.js';
import { type IssuingHarness, issuingHarness } from '../support/harness/issuing.js';
import { collectingQueue } from '../support/harness/workers.js';

const workerOf = async (harness: IssuingHarness) => {
  const queue = collectingQueue();
  const faults: unknown[] = [];
  const { signal } = new AbortController();
  await runIssuer({
    queue,
    deps: harness.deps,
    concurrency: 3,
    signal,
    inTurn: (_company, task) => task(),
    isEngineFault: (error) => error instanceof EventLogUnavailable,
    onFault: (_stream, fault) => faults.push(fault),
  });
  const deliver = (kind: Delivery['kind'] = 'issue', deliveries = 1): Promise<HandlingResult> =>
    queue.handler()({ kind, stream: harness.stream, messageId: 'm', deliveries });
  return { queue, faults, deliver };
};

const breakLog = (harness: IssuingHarness, error: Error = new EventLogUnavailable('down')): { mend(): void } => {
  const { store } = harness.deps;
  harness.deps.store = { ...store, load: () => Promise.reject(error) };
  return {
    mend: () => {
      harness.deps.store = store;
    },
  };
};

describe('the issuer', () => {
  it('works on as many at once as it may', async () => {
    const { queue } = await workerOf(await issuingHarness());
    expect(queue.options).toEqual([{ concurrency: 3 }]);
  });

  it('is done with an issued invoice', async () => {
    const harness = await issuingHarness();
    const { deliver } = await workerOf(harness);
    expect(await deliver()).toEqual({ kind: 'ack' });
    expect(await deliver('cancel')).toEqual({ kind: 'ack' });
    expect(await harness.status()).toBe('issued');
    expect(harness.notices).toEqual([]);
  });

  it('tells of work for an invoice that the log does not have, unless the log has it at a second look', async () => {
    const harness = await issuingHarness();
    const { deliver } = await workerOf(harness);
    const { stream: known } = harness;
    const unknown = invoiceStream('live', '12345678000195', '77777777-7777-4777-8777-777777777777');
    for (const kind of ['issue', 'cancel'] as const) {
      harness.stream = unknown;
      expect(await deliver(kind)).toEqual({ kind: 'retry', afterMs: 1_000 });
      harness.stream = known;
      expect(await deliver(kind, 2)).toEqual({ kind: 'ack' });
    }
    expect(harness.notices).toEqual([]);
    harness.stream = unknown;
    for (const kind of ['issue', 'cancel'] as const) expect(await deliver(kind, 2)).toEqual({ kind: 'ack' });
    const notice = { kind: 'unknown_invoice', stream: unknown };
    expect(harness.notices).toEqual([notice, notice]);
  });

  it('looks again when the protocol asks for it, but never later than in a minute', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['lost_request'];
    const { deliver } = await workerOf(harness);
    expect(await deliver()).toEqual({ kind: 'retry', afterMs: 30_000 });
    harness.authorizer.script = [];
    harness.authorizer.mute = true;
    for (let looks = 0; looks < 5; looks += 1) {
      harness.clock.pass(600);
      const verdict = await deliver();
      if (verdict.kind !== 'retry') throw new Error(verdict.kind);
      expect(verdict.afterMs).toBeLessThanOrEqual(60_000);
      expect(verdict.afterMs).toBeGreaterThan(0);
    }
  });

  it('doubles its pause after every fault, up to a minute, and parks what never works', async () => {
    const harness = await issuingHarness();
    breakLog(harness, new Error('broken'));
    const { deliver, faults } = await workerOf(harness);
    const pauses: number[] = [];
    for (let count = 1; count <= 30; count += 1) {
      const verdict = await deliver();
      if (verdict.kind !== 'retry') throw new Error(verdict.kind);
      pauses.push(verdict.afterMs);
    }
    expect(pauses.slice(0, 9)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(await deliver()).toMatchObject({ kind: 'park' });
    expect(faults).toHaveLength(31);
    expect(await deliver()).toEqual({ kind: 'retry', afterMs: 500 });
  });

  it('parks nothing while an engine is out, and then does what was waiting', async () => {
    const harness = await issuingHarness();
    await harness.issueToTheEnd();
    await harness.record(cancelRequested(10));
    const { mend } = breakLog(harness);
    const { deliver } = await workerOf(harness);
    const pauses: number[] = [];
    for (let count = 1; count <= 50; count += 1) {
      const verdict = await deliver('cancel');
      if (verdict.kind !== 'retry') throw new Error(verdict.kind);
      pauses.push(verdict.afterMs);
      harness.clock.pass(Math.ceil(verdict.afterMs / 1_000));
    }
    expect(pauses.slice(0, 9)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(Math.max(...pauses)).toBe(60_000);
    mend();
    expect(await deliver('cancel')).toEqual({ kind: 'ack' });
    await concludeCancellationIfDue(harness.stream, { ...harness.deps, actor: 'timer:sweeper' });
    expect(await harness.status()).toBe('canceled');
  });

  it('keeps the answer of the authorizer while the log refuses to record it', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = [{ rejected: ['E0160'] }];
    const { store } = harness.deps;
    let isDown = true;
    harness.deps.store = {
      ...store,
      append: async (stream, version, events, context) => {
        if (context.site === 'record_issue_outcome' && isDown) {
          isDown = false;
          throw new EventLogUnavailable('down');
        }
        return await store.append(stream, version, events, context);
      },
    };
    const { deliver, faults } = await workerOf(harness);
    expect(await deliver()).toEqual({ kind: 'ack' });
    expect(faults).toEqual([expect.any(EventLogUnavailable)]);
    expect(await harness.status()).toBe('failed');
    expect(harness.authorizer.calls).toEqual(['sendDps']);
  });

  it('counts the other faults on both sides of an outage', async () => {
    const harness = await issuingHarness();
    const { deliver } = await workerOf(harness);
    const { mend } = breakLog(harness, new Error('broken'));
    for (let count = 1; count <= 29; count += 1) expect(await deliver()).toMatchObject({ kind: 'retry' });
    mend();
    const out = breakLog(harness);
    for (let count = 1; count <= 5; count += 1) expect(await deliver()).toEqual({ kind: 'retry', afterMs: 60_000 });
    out.mend();
    breakLog(harness, new Error('broken'));
    expect(await deliver()).toMatchObject({ kind: 'retry' });
    expect(await deliver()).toEqual({ kind: 'park', reason: 'failed 31 times' });
  });

  it('tries again later when other writers were first in every try, and the work is done then', async () => {
    const harness = await issuingHarness();
    const { store } = harness.deps;
    harness.deps.store = { ...store, append: async () => ({ ok: false }) };
    const { deliver, faults } = await workerOf(harness);
    expect(await deliver()).toEqual({ kind: 'retry', afterMs: 500 });
    expect(faults).toEqual([expect.any(StreamContended)]);
    expect(harness.authorizer.sends).toHaveLength(0);
    harness.deps.store = store;
    expect(await deliver()).toEqual({ kind: 'ack' });
    expect(await harness.status()).toBe('issued');
  });

  it('forgets its faults once a look has worked', async () => {
    const harness = await issuingHarness();
    const { mend } = breakLog(harness);
    const { deliver } = await workerOf(harness);
    await deliver();
    await deliver();
    mend();
    harness.authorizer.script = ['not_sent'];
    expect(await deliver()).toEqual({ kind: 'retry', afterMs: 1_000 });
    breakLog(harness);
    expect(await deliver()).toEqual({ kind: 'retry', afterMs: 500 });
  });

  it('fails an invoice at once whose document does not fit the schema, and parks its work', async () => {
    const harness = await issuingHarness('live', {
      signer: {
        signDps: () => {
          throw new SchemaViolation('toma');
        },
        signPedRegEvento: () => {
          throw new SchemaViolation('infPedReg');
        },
        renew: async () => undefined,
      },
    });
    const { deliver } = await workerOf(harness);
    expect(await deliver()).toEqual({ kind: 'park', reason: 'the document does not fit the official schema: toma' });
    expect(harness.notices.map(({ kind }) => kind)).toEqual(['document_invalid']);
    expect((await harness.events()).slice(1)).toMatchObject([
      { type: 'IssuanceFailed', data: { failedAt: harness.clock.now(), reason: 'document_invalid' } },
    ]);
    expect(await deliver()).toEqual({ kind: 'ack' });
    expect(harness.authorizer.sends).toHaveLength(0);
  });

  it('issues every invoice once, with the relay, the queue and many lanes', async () => {
    const harness = await issuingHarness();
    const queue = createMemoryQueue(harness.clock);
    const stop = new AbortController();
    const { signal } = stop;
    const relaying = runRelay({
      log: harness.log,
      queue,
      after: null,
      signal,
      onRelayed: async () => undefined,
      onInterrupted: () => undefined,
    });
    const workers = [1, 2].map(() =>
      runIssuer({
        queue,
        deps: harness.deps,
        concurrency: 8,
        signal,
        inTurn: (_company, task) => task(),
        isEngineFault: () => false,
        onFault: () => undefined,
      }),
    );
    const streams = Array.from({ length: 30 }, (_, index) => {
      const invoiceId = `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`;
      return { invoiceId, stream: invoiceStream('live', '12345678000195', invoiceId) };
    });
    await Promise.all(
      streams.map(({ invoiceId, stream }) =>
        appendTo(harness.store, stream, [accepted({ invoiceId, reference: invoiceId })], harness.clock.now()),
      ),
    );
    await vi.waitFor(() => expect(harness.authorizer.notes).toHaveLength(31), { timeout: 60_000 });
    await vi.waitFor(async () => expect(await queue.depth()).toBe(0), { timeout: 60_000 });
    stop.abort();
    await Promise.all([relaying, ...workers]);
    for (const { stream } of streams) {
      const types = (await harness.log.read(stream)).map(({ type }) => type);
      expect(types).toEqual(['InvoiceAccepted', 'IssuanceAttempted', 'Authorized']);
    }
    expect(harness.authorizer.sends).toHaveLength(31);
    expect(new Set(harness.authorizer.notes.map(({ dpsId }) => dpsId)).size).toBe(31);
  });
});
