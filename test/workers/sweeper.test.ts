import { describe, expect, it } from 'vitest';
import { createMemoryGuards } from '../../src/adapters/guards-memory/guards.js';
import type { Mode } from '../../src/domain/shared/ids.js';
import type { Deadline } from '../../src/ports/read-model.js';
import { refill, type Sweeper, sweep } from '../../src/workers/sweeper.js';
import { type IssuerWorld, issuerWorld } from '../app/issuer/world.js';
import { at, cancelRequested, T0 } from '../domain/invoice/fixtures.js';
import { collectingQueue, scriptedReadModel } from './support.js';

const deadline = (world: IssuerWorld, kind: Deadline['kind'] = 'issue', mode: Mode = 'live'): Deadline => ({
  ...{ stream: world.stream, mode, companyId: '12345678000195', kind, since: T0, started: false },
});

const sweeperOf = (world: IssuerWorld, rows: Parameters<typeof scriptedReadModel>[0]) => {
  const queue = collectingQueue();
  const faults: string[] = [];
  const { readModel, asked } = scriptedReadModel(rows);
  const sweeper: Sweeper = {
    ...{ readModel, log: world.log, queue, cuts: createMemoryGuards().cuts },
    deps: { ...world.deps, actor: 'timer:sweeper' },
    onFault: (stream) => faults.push(stream),
  };
  return { sweeper, queue, faults, asked };
};

describe('a sweep', () => {
  it('asks for what is due by the limits of the specification', async () => {
    const world = await issuerWorld();
    const { sweeper, asked } = sweeperOf(world, {});
    world.clock.moveTo(at(10_000_000));
    await sweep(sweeper, 1);
    expect(asked.verdictsDue[0]?.[0]).toEqual({ queued: at(9_999_100), started: at(9_996_400), cancel: at(9_996_400) });
    expect(asked.openWork[0]?.[0]).toEqual({ queued: at(9_999_970), started: at(9_999_880) });
    expect(asked.expiredTestInvoices[0]?.[0]).toEqual(at(9_395_200));
  });

  it('concludes what is due, names the due instant, and starts no send', async () => {
    const world = await issuerWorld();
    const { sweeper } = sweeperOf(world, { verdictsDue: [deadline(world)] });
    world.clock.moveTo(at(905));
    await sweep(sweeper, 1);
    await sweep(sweeper, 2);
    expect(await world.types()).toEqual(['InvoiceAccepted', 'NotProcessed']);
    expect((await world.events())[1]?.data).toEqual({ failedAt: at(900), at: at(905) });
    expect(world.authorizer.calls).toEqual([]);
    expect((await world.log.read(world.stream))[1]?.metadata.actor).toBe('timer:sweeper');
  });

  it('trusts the log and not the row', async () => {
    const world = await issuerWorld();
    const { sweeper } = sweeperOf(world, { verdictsDue: [deadline(world), deadline(world, 'cancel')] });
    world.clock.moveTo(at(899));
    await sweep(sweeper, 1);
    expect(await world.status()).toBe('queued');
    await world.issueToTheEnd();
    world.clock.moveTo(at(9_000));
    await sweep(sweeper, 2);
    expect(await world.status()).toBe('issued');
  });

  it('ends a cancellation that nobody confirmed', async () => {
    const world = await issuerWorld();
    await world.issueToTheEnd();
    await world.record(cancelRequested(10));
    const { sweeper } = sweeperOf(world, { verdictsDue: [deadline(world, 'cancel')] });
    world.clock.moveTo(at(10 + 3600));
    await sweep(sweeper, 1);
    expect((await world.types()).at(-1)).toBe('CancellationNotConfirmed');
  });

  it('goes on after a stream that fails', async () => {
    const world = await issuerWorld();
    const broken = { ...deadline(world), stream: 'nfseLive-broken' };
    const { sweeper, faults } = sweeperOf(world, { verdictsDue: [broken, deadline(world)] });
    const { store } = world;
    sweeper.deps = {
      ...sweeper.deps,
      store: {
        ...store,
        load: (stream, options) =>
          stream === broken.stream ? Promise.reject(new Error('broken')) : store.load(stream, options),
      },
    };
    world.clock.moveTo(at(905));
    await sweep(sweeper, 1);
    expect(faults).toEqual([broken.stream]);
    expect(await world.status()).toBe('failed');
  });

  it('taps quiet work again, each time under another message id', async () => {
    const world = await issuerWorld();
    const { sweeper, queue } = sweeperOf(world, { openWork: [deadline(world)] });
    world.clock.moveTo(at(40));
    await sweep(sweeper, 1);
    await sweep(sweeper, 2);
    expect(queue.taps).toMatchObject([
      { kind: 'issue', stream: world.stream },
      { kind: 'issue', stream: world.stream },
    ]);
    expect(new Set(queue.taps.map(({ messageId }) => messageId)).size).toBe(2);
  });

  it('taps nobody in a process without an issuer', async () => {
    const world = await issuerWorld();
    const { sweeper, asked } = sweeperOf(world, { openWork: [deadline(world)] });
    await sweep({ ...sweeper, queue: undefined }, 1);
    expect(asked.openWork).toEqual([]);
  });
});

describe('a refill', () => {
  it('taps all open work, however young', async () => {
    const world = await issuerWorld();
    const { sweeper, queue, asked } = sweeperOf(world, { openWork: [deadline(world), deadline(world, 'cancel')] });
    await refill(sweeper);
    expect(asked.openWork[0]?.[0]).toBeNull();
    expect(queue.taps.map(({ kind }) => kind)).toEqual(['issue', 'cancel']);
  });
});
