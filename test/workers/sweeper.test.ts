import { describe, expect, it, vi } from 'vitest';
import { createMemoryQueue } from '../../src/adapters/queue-memory/memory-queue.js';
import type { Mode } from '../../src/domain/common/ids.js';
import { epochMs } from '../../src/domain/common/time.js';
import type { OpenWork, Timer } from '../../src/ports/read-model.js';
import { refillQueue, type Sweeper, sweep } from '../../src/workers/sweeper.js';
import { at, cancelRequested, limits, T0 } from '../support/fixture/invoice.js';
import { type IssuingHarness, issuingHarness } from '../support/harness/issuing.js';
import { collectingQueue, scriptedReadModel } from '../support/harness/workers.js';
import { createMemoryGuards } from '../support/memory/guards.js';

const deadline = (harness: IssuingHarness, kind: Timer['kind'] = 'issue', mode: Mode = 'live'): Timer => ({
  stream: harness.stream,
  mode,
  companyId: '12345678000195',
  kind,
  since: T0,
  started: false,
});

/** Open work that is due so many seconds after the beginning. */
const open = (row: Timer, dueSeconds = 900): OpenWork => ({ ...row, dueMs: epochMs(at(dueSeconds)) });

const sweeperOf = (harness: IssuingHarness, rows: Parameters<typeof scriptedReadModel>[0]) => {
  const queue = collectingQueue();
  const faults: string[] = [];
  const { readModel, asked } = scriptedReadModel(rows);
  const sweeper: Sweeper = {
    readModel,
    log: harness.log,
    queue,
    cuts: createMemoryGuards().cuts,
    previousGeneration: { end: async () => undefined },
    deps: { ...harness.deps, actor: 'timer:sweeper' },
    inTrace: (_stream, conclude) => conclude(),
    onFault: (stream) => faults.push(stream),
  };
  return { sweeper, queue, faults, asked };
};

const bound = { timeout: 60_000, interval: 5 };

/** Rows of streams that hold nothing. */
const strangers = (count: number): Timer[] =>
  Array.from({ length: count }, (_, index) => ({
    stream: `nfseLive-${String(index).padStart(4, '0')}`,
    mode: 'live',
    companyId: '12345678000195',
    kind: 'issue',
    since: T0,
    started: false,
  }));

/** A promise that the sweeper's reading of a stream waits for; the test's own readings do not wait. */
const onLoad = (
  sweeper: Sweeper,
  { store }: IssuingHarness,
  first: (stream: string) => Promise<void> | undefined,
): void => {
  const load: typeof store.load = async (stream, options) => {
    await first(stream);
    return store.load(stream, options);
  };
  sweeper.deps = { ...sweeper.deps, store: { ...store, load } };
};

/** Holds the look at every stream but the harness's until the gate opens, and lets it fail then. */
const gated = (sweeper: Sweeper, harness: IssuingHarness) => {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const begun: string[] = [];
  let under = 0;
  let most = 0;
  onLoad(sweeper, harness, async (stream) => {
    if (stream === harness.stream) return;
    begun.push(stream);
    under += 1;
    most = Math.max(most, under);
    await opened;
    under -= 1;
    throw new Error('the authorizer is silent');
  });
  return { open: () => open(), begun: () => begun, under: () => under, most: () => most };
};

describe('a sweep', () => {
  it('asks for what is due by the limits of the contract', async () => {
    const harness = await issuingHarness();
    const { sweeper, asked } = sweeperOf(harness, {});
    harness.clock.moveTo(at(10_000_000));
    await sweep(sweeper, 1);
    expect(asked.verdictsDue.map(([beganBefore]) => beganBefore)).toEqual([
      { queued: at(9_999_100) },
      { started: at(9_996_400), cancel: at(9_996_400) },
    ]);
    expect(asked.openWork[0]?.[0]).toEqual({
      quietSince: { queued: at(9_999_970), started: at(9_999_880) },
      windows: harness.deps.limits,
    });
    expect(asked.expiredTestInvoices[0]?.[0]).toEqual(at(9_395_200));
  });

  it('concludes what is due, names the due instant, and starts no send', async () => {
    const harness = await issuingHarness();
    const { sweeper } = sweeperOf(harness, { verdictsDue: [deadline(harness)] });
    harness.clock.moveTo(at(905));
    await sweep(sweeper, 1);
    await sweep(sweeper, 2);
    expect(await harness.types()).toEqual(['InvoiceAccepted', 'NotProcessed']);
    expect((await harness.events())[1]?.data).toEqual({ failedAt: at(900), at: at(905) });
    expect(harness.authorizer.calls).toEqual([]);
    expect((await harness.log.read(harness.stream))[1]?.metadata.actor).toBe('timer:sweeper');
  });

  it('records no verdict once its signal aborts, because a log that issuing pauses over may have lost an attempt', async () => {
    const harness = await issuingHarness();
    const { sweeper } = sweeperOf(harness, { verdictsDue: [deadline(harness)] });
    harness.clock.moveTo(at(905));
    const pausing = new AbortController();
    onLoad(sweeper, harness, async () => pausing.abort());
    await sweep(sweeper, 1, pausing.signal);
    expect(await harness.types()).toEqual(['InvoiceAccepted']);
    await sweep(sweeper, 2);
    expect(await harness.types()).toEqual(['InvoiceAccepted', 'NotProcessed']);
  });

  it('decides by the log and not by the row', async () => {
    const harness = await issuingHarness();
    const { sweeper } = sweeperOf(harness, { verdictsDue: [deadline(harness), deadline(harness, 'cancel')] });
    harness.clock.moveTo(at(899));
    await sweep(sweeper, 1);
    expect(await harness.status()).toBe('queued');
    await harness.issueToTheEnd();
    harness.clock.moveTo(at(9_000));
    await sweep(sweeper, 2);
    expect(await harness.status()).toBe('issued');
  });

  it('ends a cancellation that nobody confirmed', async () => {
    const harness = await issuingHarness();
    await harness.issueToTheEnd();
    await harness.record(cancelRequested(10));
    const { sweeper } = sweeperOf(harness, { verdictsDue: [deadline(harness, 'cancel')] });
    harness.clock.moveTo(at(10 + 3600));
    await sweep(sweeper, 1);
    expect((await harness.types()).at(-1)).toBe('CancellationNotConfirmed');
  });

  it('leaves to the next sweep what other writers kept it from recording', async () => {
    const harness = await issuingHarness('test');
    const row = deadline(harness, 'issue', 'test');
    const { sweeper, faults } = sweeperOf(harness, { verdictsDue: [row], expired: [harness.stream] });
    const free = sweeper.deps.store;
    for (const [moment, type] of [
      [at(905), 'NotProcessed'],
      [at(limits.testRetentionSeconds), 'TestInvoiceDeleted'],
    ] as const) {
      harness.clock.moveTo(moment);
      sweeper.deps = { ...sweeper.deps, store: { ...free, append: async () => ({ ok: false }) } };
      await sweep(sweeper, 1);
      expect(faults).toContain(harness.stream);
      expect(await harness.types()).not.toContain(type);
      sweeper.deps = { ...sweeper.deps, store: free };
      faults.length = 0;
      await sweep(sweeper, 2);
      expect(faults).toEqual([]);
      expect((await harness.types()).at(-1)).toBe(type);
    }
  });

  it('goes on after any number of streams that fail', async () => {
    const harness = await issuingHarness();
    const broken = strangers(450);
    const last = { ...deadline(harness), since: at(1) };
    const { sweeper, faults, asked } = sweeperOf(harness, { verdictsDue: [...broken, last] });
    onLoad(sweeper, harness, (stream) => (stream === harness.stream ? undefined : Promise.reject(new Error('broken'))));
    harness.clock.moveTo(at(905));
    await sweep(sweeper, 1);
    expect(faults.sort()).toEqual(broken.map(({ stream }) => stream));
    expect(await harness.status()).toBe('failed');
    expect(Math.max(...asked.verdictsDue.map(([, limit]) => limit))).toBe(200);
  });

  it('concludes what was never attempted first, and 64 of the others at once', async () => {
    const harness = await issuingHarness();
    const slow = strangers(100).map((row) => ({ ...row, started: true }));
    const { sweeper } = sweeperOf(harness, { verdictsDue: [...slow, { ...deadline(harness), since: at(1) }] });
    const gate = gated(sweeper, harness);
    harness.clock.moveTo(at(9_000));
    const sweeping = sweep(sweeper, 1);
    await vi.waitFor(() => expect(gate.under()).toBe(64), bound);
    expect(await harness.status()).toBe('failed');
    gate.open();
    await sweeping;
    expect(gate.begun()).toHaveLength(100);
    expect(gate.most()).toBe(64);
  });

  it('begins nothing more once it is to stop, and ends with what it has in hand', async () => {
    const harness = await issuingHarness();
    const slow = strangers(40);
    const { sweeper, queue, faults } = sweeperOf(harness, { verdictsDue: slow, openWork: [open(deadline(harness))] });
    const gate = gated(sweeper, harness);
    const stop = new AbortController();
    harness.clock.moveTo(at(9_000));
    const sweeping = sweep(sweeper, 1, stop.signal);
    await vi.waitFor(() => expect(gate.under()).toBe(16), bound);
    stop.abort();
    gate.open();
    await sweeping;
    expect(gate.begun()).toHaveLength(16);
    expect(faults).toHaveLength(16);
    expect(queue.items).toEqual([]);
  });

  it('leaves a row that an event of this sweep may have moved to the next one', async () => {
    const harness = await issuingHarness();
    const { sweeper } = sweeperOf(harness, { verdictsDue: [{ ...deadline(harness), since: at(906) }] });
    harness.clock.moveTo(at(905));
    await sweep(sweeper, 1);
    expect(await harness.status()).toBe('queued');
    harness.clock.moveTo(at(906));
    await sweep(sweeper, 2);
    expect(await harness.status()).toBe('failed');
  });

  it('puts quiet work back, each time under another message id', async () => {
    const harness = await issuingHarness();
    const { sweeper, queue } = sweeperOf(harness, { openWork: [open(deadline(harness))] });
    harness.clock.moveTo(at(40));
    await sweep(sweeper, 1);
    await sweep(sweeper, 2);
    expect(queue.items).toMatchObject([
      { kind: 'issue', stream: harness.stream },
      { kind: 'issue', stream: harness.stream },
    ]);
    expect(new Set(queue.items.map(({ messageId }) => messageId)).size).toBe(2);
  });

  it('puts all quiet work back, however much of it never progresses', async () => {
    const harness = await issuingHarness();
    const { sweeper, queue, asked } = sweeperOf(harness, { openWork: strangers(450).map((row) => open(row)) });
    harness.clock.moveTo(at(40));
    await sweep(sweeper, 1);
    expect(new Set(queue.items.map(({ stream }) => stream)).size).toBe(450);
    expect(asked.openWork.map(([, limit]) => limit)).toEqual([200, 200, 200]);
  });

  it('gives every verdict while the queue is out, and reports the fault', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['lost_request'];
    harness.authorizer.mute = true;
    await harness.issue();
    const rows = {
      openWork: strangers(20).map((row) => open(row)),
      verdictsDue: [{ ...deadline(harness), started: true }],
    };
    const { sweeper, queue, faults } = sweeperOf(harness, rows);
    const put = vi.spyOn(queue, 'put').mockRejectedValue(new Error('no queue'));
    harness.clock.moveTo(at(3_700));
    await expect(sweep(sweeper, 1)).rejects.toThrow('no queue');
    expect(await harness.status()).toBe('indeterminate');
    expect(put).toHaveBeenCalledTimes(5);
    expect(faults).toHaveLength(4);
  });

  it('puts the other streams back when single streams cannot be put, however many', async () => {
    const harness = await issuingHarness();
    const { sweeper, queue, faults } = sweeperOf(harness, { openWork: strangers(100).map((row) => open(row)) });
    const { put } = queue;
    queue.put = async (item) => {
      if (item.stream.endsWith('7')) throw new Error('a name that no queue takes');
      await put(item);
    };
    harness.clock.moveTo(at(40));
    await sweep(sweeper, 1);
    expect(queue.items).toHaveLength(90);
    expect(faults).toHaveLength(10);
  });

  it('ends what is due when test invoices cannot be looked for', async () => {
    const harness = await issuingHarness();
    harness.authorizer.script = ['lost_request'];
    harness.authorizer.mute = true;
    await harness.issue();
    const { sweeper } = sweeperOf(harness, { verdictsDue: [{ ...deadline(harness), started: true }] });
    sweeper.cuts = { ...sweeper.cuts, list: () => Promise.reject(new Error('no table')) };
    harness.clock.moveTo(at(3_700));
    await expect(sweep(sweeper, 1)).rejects.toThrow('no table');
    expect(await harness.status()).toBe('indeterminate');
  });

  it('puts nothing back in a process without an issuer', async () => {
    const harness = await issuingHarness();
    const { sweeper, asked } = sweeperOf(harness, { openWork: [open(deadline(harness))] });
    await sweep({ ...sweeper, queue: undefined }, 1);
    expect(asked.openWork).toEqual([]);
  });
});

describe('a refill', () => {
  it('puts all open work back, however young', async () => {
    const harness = await issuingHarness();
    const { sweeper, queue, asked } = sweeperOf(harness, {
      openWork: [open(deadline(harness), 3_600), open({ ...deadline(harness, 'cancel'), since: at(1) }, 3_601)],
    });
    await refillQueue(sweeper);
    expect(asked.openWork[0]?.[0]).toEqual({ quietSince: null, windows: harness.deps.limits });
    expect(queue.items.map(({ kind }) => kind)).toEqual(['issue', 'cancel']);
  });

  it('puts work back page by page, and ends when it is told to', async () => {
    const harness = await issuingHarness();
    const { sweeper, queue, asked } = sweeperOf(harness, { openWork: strangers(400).map((row) => open(row)) });
    await refillQueue(sweeper);
    expect(new Set(queue.items.map(({ stream }) => stream)).size).toBe(400);
    expect(asked.openWork.map(([, limit]) => limit)).toEqual([200, 200, 200]);
    await refillQueue(sweeper, AbortSignal.abort());
    expect(queue.items).toHaveLength(400);
  });

  it('hands out what is due first before thousands that are younger, and new work last', async () => {
    const harness = await issuingHarness();
    const { sweeper } = sweeperOf(harness, {
      openWork: [
        ...strangers(450).map((row, n) => open(row, 900 + n)),
        open({ ...deadline(harness), since: at(899) }, 30),
      ],
    });
    const queue = createMemoryQueue(harness.clock);
    sweeper.queue = queue;
    await refillQueue(sweeper);
    await queue.put({ kind: 'issue', stream: 'nfseLive-new', messageId: 'new' });
    const handled: string[] = [];
    const stop = new AbortController();
    await queue.work({
      concurrency: 1,
      signal: stop.signal,
      handle: async ({ stream }) => {
        handled.push(stream);
        if (handled.length === 452) stop.abort();
        return { kind: 'ack' };
      },
    });
    expect(handled).toEqual([harness.stream, ...strangers(450).map(({ stream }) => stream), 'nfseLive-new']);
  });
});
