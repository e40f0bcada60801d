import { describe, expect, it } from 'vitest';
import { createEventStore, type EventStore } from '../../../src/app/event-store/event-store.js';
import { allocateDpsNumber, blockDpsSeries } from '../../../src/app/issuing/allocate-number.js';
import { dpsStream } from '../../../src/domain/common/ids.js';
import type { DpsNumberEvent } from '../../../src/domain/dps-number/events.js';
import { T0 } from '../../support/fixture/invoice.js';
import { fixedKeys, movableClock } from '../../support/harness/event-store.js';
import { memoryEventLog } from '../../support/memory/event-log.js';

const stream = dpsStream('live', '12345678000195', '1');

const setUp = () => {
  const log = memoryEventLog();
  const counted = { appends: 0 };
  const process = () => {
    const store = createEventStore(log, fixedKeys());
    const watched: EventStore = {
      ...store,
      append: (...args) => {
        counted.appends += 1;
        return store.append(...args);
      },
    };
    const deps = { store: watched, clock: movableClock(T0), actor: 'worker:test' as const };
    const owner = (invoiceId: string) => ({ mode: 'live' as const, companyId: '12345678000195', invoiceId });
    return {
      deps,
      owner,
      take: (invoiceId: string, series = '1') =>
        allocateDpsNumber(owner(invoiceId), { series, nextNumber: 10 }, undefined, deps),
    };
  };
  return { log, counted, process };
};

const names = (count: number, prefix: string): readonly string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

const numbersOf = (taken: readonly Awaited<ReturnType<ReturnType<ReturnType<typeof setUp>['process']>['take']>>[]) =>
  taken.map((one) => ('number' in one ? one.number : one.refused));

describe('allocations of DPS numbers', () => {
  it('that wait together are stored by one append, and each gets a number of its own', async () => {
    const { counted, process } = setUp();
    const { deps, take } = process();
    const taken = await Promise.all(names(16, 'a').map((name) => take(name)));
    expect(numbersOf(taken)).toEqual(Array.from({ length: 16 }, (_, index) => 10 + index));
    expect(counted.appends).toBe(2);
    const { events } = await deps.store.load<DpsNumberEvent>(stream);
    expect(events.map(({ data }) => 'number' in data && [data.number, data.nextNumber])).toEqual(
      Array.from({ length: 16 }, (_, index) => [10 + index, 11 + index]),
    );
  });

  it('of several processes never give a number twice', async () => {
    const { process } = setUp();
    const processes = [process(), process(), process()];
    const taken = await Promise.all(processes.flatMap(({ take }, n) => names(8, `p${n}-`).map((name) => take(name))));
    const numbers = numbersOf(taken);
    expect(new Set(numbers).size).toBe(24);
    expect(numbers.every((number) => typeof number === 'number')).toBe(true);
  });

  it('of another series are not held up, and a blocked series refuses each of its own', async () => {
    const { process } = setUp();
    const { deps, owner, take } = process();
    await blockDpsSeries(owner('x'), { series: '1', number: 3 }, undefined, deps);
    const taken = await Promise.all([take('a'), take('b'), take('c', '2'), take('d', '2')]);
    expect(numbersOf(taken)).toEqual(['series_blocked', 'series_blocked', 10, 11]);
  });

  it('go on behind the note that stopped a series of which the log has lost every number', async () => {
    const { process } = setUp();
    const { deps, owner } = process();
    await blockDpsSeries(owner('x'), { series: '1', number: 12 }, undefined, deps);
    const { events } = await deps.store.load<DpsNumberEvent>(stream);
    expect(events).toMatchObject([{ type: 'DpsSeriesBlocked', data: { number: 12, nextNumber: 13 } }]);
  });

  it('reject together when their append fails, and the next ones go on', async () => {
    const { process } = setUp();
    const { deps, owner, take } = process();
    let fails = true;
    const store: EventStore = {
      ...deps.store,
      append: (...args) => (fails ? Promise.reject(new Error('down')) : deps.store.append(...args)),
    };
    const failing = (name: string) =>
      allocateDpsNumber(owner(name), { series: '1', nextNumber: 10 }, undefined, { ...deps, store });
    const lost = await Promise.allSettled([failing('a'), failing('b')]);
    expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    expect(numbersOf([await failing('a')])).toEqual([10]);
    expect(numbersOf([await take('b')])).toEqual([11]);
  });
});
