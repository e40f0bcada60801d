import { describe, expect, it } from 'vitest';
import { operatorContext, requestContext, workerContext } from '../../../src/app/event-store/command-context.js';
import { createEventStore, type EventStore, StoreUnavailable } from '../../../src/app/event-store/event-store.js';
import {
  anyState,
  type Command,
  create,
  StreamContended,
  transact,
  unlessContended,
} from '../../../src/app/event-store/transact.js';
import { invoiceFold } from '../../../src/app/read/read-invoice.js';
import { allocateNumber, dpsNumbersFrom } from '../../../src/domain/dps-number/dps-number.js';
import type { DpsNumberEvent } from '../../../src/domain/dps-number/events.js';
import { noChange } from '../../../src/domain/shared/decision.js';
import { dpsStream } from '../../../src/domain/shared/ids.js';
import { AppendOutcomeUnknown, EventLogUnavailable } from '../../../src/ports/event-log.js';
import { accepted, T0 } from '../../support/fixture/invoice.js';
import { contextAt, fixedKeys, movableClock } from '../../support/harness/event-store.js';
import { memoryEventLog } from '../../support/memory/event-log.js';

const stream = dpsStream('live', '12345678000195', '1');

const worldOf = (log = memoryEventLog()) => {
  const store = createEventStore(log, fixedKeys());
  return { log, store, clock: movableClock(T0), loads: 0, decisions: 0, appends: 0 };
};

type World = ReturnType<typeof worldOf>;

/** The store with its calls counted; `meanwhile` is another writer, who appends before each append of the caller. */
const watched = (world: World, meanwhile: () => Promise<unknown> = async () => undefined): EventStore => ({
  load: (...args) => {
    world.loads += 1;
    return world.store.load(...args);
  },
  append: async (...args) => {
    world.appends += 1;
    await meanwhile();
    return world.store.append(...args);
  },
});

const command = (world: World): Command<{ nextNumber: number; blocked: boolean }, DpsNumberEvent, string> => ({
  stream,
  read: 'last',
  fold: dpsNumbersFrom(1),
  decide: (numbers, { now }) => {
    world.decisions += 1;
    return allocateNumber(numbers, 'a', now);
  },
  context: workerContext(stream, 'allocate_number', { actor: 'worker:test' }),
});

const numbersIn = async ({ store }: World) =>
  (await store.load<DpsNumberEvent>(stream)).events.map(({ data }) => ('number' in data ? data.number : undefined));

/** Another process, which takes the next number by itself. */
const other = (world: World) => () => transact({ ...command(worldOf()), context: (now) => contextAt(now) }, world);

describe('a transaction', () => {
  it('appends in the first try, and gives the state and revision after its events', async () => {
    const world = worldOf();
    const first = await transact(command(world), { ...world, store: watched(world) });
    expect(first).toMatchObject({ kind: 'appended', state: { nextNumber: 2 }, revision: 0, events: [{}] });
    expect(await transact(command(world), world)).toMatchObject({ state: { nextNumber: 3 }, revision: 1 });
    expect(await numbersIn(world)).toEqual([1, 2]);
    expect([world.loads, world.appends]).toEqual([1, 1]);
  });

  it('decides again on the newest state after a lost race', async () => {
    const world = worldOf();
    let races = 2;
    const store = watched(world, async () => (races-- > 0 ? other(world)() : undefined));
    const outcome = await transact(command(world), { ...world, store });
    expect(outcome).toMatchObject({ kind: 'appended', state: { nextNumber: 4 }, revision: 2 });
    expect(await numbersIn(world)).toEqual([1, 2, 3]);
    expect([world.loads, world.decisions, world.appends]).toEqual([3, 3, 3]);
  });

  it('ends as contended after the last try, with nothing of its own stored', async () => {
    const world = worldOf();
    const mine = { ...command(world), context: operatorContext('operate_company', { actor: 'support:ana' }) };
    const outcome = await transact(mine, { ...world, store: watched(world, other(world)) }, { tries: 3 });
    expect(outcome).toEqual({ kind: 'contended' });
    expect(world.appends).toBe(3);
    const { events } = await world.store.load(stream);
    expect(events.map(({ metadata }) => metadata.actor)).toEqual(['worker:test', 'worker:test', 'worker:test']);
    expect(() => unlessContended(outcome)).toThrow(StreamContended);
  });

  it('has a bound of its own', async () => {
    const world = worldOf();
    const losing: EventStore = { ...watched(world), append: async () => ({ ok: false }) };
    expect(await transact(command(world), { ...world, store: losing })).toEqual({ kind: 'contended' });
    expect(world.loads).toBe(32);
  });

  it('appends nothing when the decision refuses', async () => {
    const world = worldOf();
    const refusing = { ...command(world), decide: () => ({ refused: 'blocked' }) };
    const outcome = await transact(refusing, { ...world, store: watched(world) });
    expect(outcome).toEqual({ kind: 'refused', refused: 'blocked' });
    expect(unlessContended(outcome)).toBe(outcome);
    expect(world.appends).toBe(0);
  });

  it('may refuse after a lost race', async () => {
    const world = worldOf();
    const once: Command<{ nextNumber: number; blocked: boolean }, DpsNumberEvent, string> = {
      ...command(world),
      decide: (numbers, { now }) => (numbers.nextNumber > 1 ? { refused: 'taken' } : allocateNumber(numbers, 'a', now)),
    };
    expect(await transact(once, { ...world, store: watched(world, other(world)) })).toEqual({
      kind: 'refused',
      refused: 'taken',
    });
    expect(await numbersIn(world)).toEqual([1]);
  });

  it('appends nothing when the command had been done already', async () => {
    const world = worldOf();
    const done = { ...command(world), decide: () => noChange };
    const store = watched(world);
    expect(await transact(done, { ...world, store })).toEqual({
      kind: 'already_so',
      state: { nextNumber: 1, blocked: false },
      revision: undefined,
    });
    await transact(command(world), world);
    expect(await transact(done, { ...world, store })).toMatchObject({ state: { nextNumber: 2 }, revision: 0 });
    expect(world.appends).toBe(0);
  });

  it.each([new EventLogUnavailable('down'), new StoreUnavailable('unknown')])(
    'passes on what the log throws, without another try: %s',
    async (fault) => {
      const world = worldOf();
      const store: EventStore = { ...watched(world), append: () => Promise.reject(fault) };
      await expect(transact(command(world), { ...world, store })).rejects.toBe(fault);
      expect(world.loads).toBe(1);
    },
  );

  it('takes an append of unknown outcome for its own when the stream holds its event', async () => {
    const log = memoryEventLog();
    const world = worldOf({
      ...log,
      append: async (...args) => {
        await log.append(...args);
        throw new AppendOutcomeUnknown('connection lost');
      },
    });
    expect(await transact(command(world), world)).toMatchObject({ kind: 'appended', revision: 0 });
    expect(await numbersIn(world)).toEqual([1]);
  });

  it('prepares before each append, and not without one', async () => {
    const world = worldOf();
    const steps: string[] = [];
    const beforeAppend = async () => void steps.push('prepared');
    let races = 1;
    const store = watched(world, async () => {
      steps.push('appends');
      if (races-- > 0) await other(world)();
    });
    await transact({ ...command(world), beforeAppend }, { ...world, store });
    expect(steps).toEqual(['prepared', 'appends', 'prepared', 'appends']);
    await transact({ ...command(world), decide: () => noChange, beforeAppend }, { ...world, store });
    expect(steps).toHaveLength(4);
  });

  it('reads as the command says: whole, sealed, or the last event alone', async () => {
    const world = worldOf();
    await transact(command(world), world);
    await transact(command(world), world);
    const seen: number[] = [];
    for (const read of ['opened', 'sealed', 'last'] as const) {
      const decide: Command<undefined, DpsNumberEvent, never>['decide'] = (_state, { events, version }) => {
        seen.push(events.length);
        expect(version).toMatchObject({ kind: 'at', revision: 1 });
        return noChange;
      };
      await transact({ stream, read, fold: anyState, decide, context: (now) => contextAt(now) }, world);
    }
    expect(seen).toEqual([2, 2, 1]);
  });

  it('needs no key to read sealed, and opens personal fields when it shall', async () => {
    const invoice = 'nfseLive-12345678000195_11111111-1111-4111-8111-111111111111';
    const log = memoryEventLog();
    await create(invoice, accepted(), contextAt(T0), { store: createEventStore(log, fixedKeys()) });
    const keys = { ...fixedKeys(), forOpening: () => Promise.reject(new Error('the vault is out')) };
    const deps = { store: createEventStore(log, keys), clock: movableClock(T0) };
    const looking = { stream: invoice, fold: invoiceFold, decide: () => noChange, context: () => contextAt(T0) };
    for (const read of ['sealed', 'last'] as const)
      expect(await transact({ ...looking, read }, deps)).toMatchObject({ kind: 'already_so', revision: 0 });
    await expect(transact({ ...looking, read: 'opened' }, deps)).rejects.toThrow('the vault is out');
  });

  it('has one instant for the decision and the context, of the try that was stored', async () => {
    const world = worldOf();
    let races = 1;
    const store = watched(world, async () => {
      if (races-- <= 0) return;
      await other(world)();
      world.clock.pass(5);
    });
    await transact(command(world), { ...world, store });
    const { events } = await world.store.load<DpsNumberEvent>(stream);
    expect(events[1]?.data.at).toBe(events[1]?.metadata.recordedAt);
    expect(events[1]?.data.at).toBe(world.clock.now());
  });
});

describe('the first event of a stream', () => {
  it('is appended once', async () => {
    const { store } = worldOf();
    const event: DpsNumberEvent = { type: 'DpsNumberMoved', data: { nextNumber: 7, at: T0 } };
    expect(await create(stream, event, contextAt(T0), { store })).toBe(true);
    expect(await create(stream, event, contextAt(T0), { store })).toBe(false);
    expect((await store.load(stream)).events).toHaveLength(1);
  });
});

describe('a command context', () => {
  const cause = { id: 'e1', metadata: { correlationId: 'req_1' } };
  const invoice = 'nfseTest-12345678000195_11111111-1111-4111-8111-111111111111';

  it('of an API call is caused by the request', () => {
    const requester = { mode: 'test', companyId: '12345678000195', keyId: 'key_1', requestId: 'req_1' } as const;
    expect(requestContext(requester, 'request_cancellation')(T0, cause)).toEqual({
      commandId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      correlationId: 'req_1',
      causationId: 'req_1',
      actor: 'apiKey:key_1',
      mode: 'test',
      companyId: '12345678000195',
      now: T0,
      site: 'request_cancellation',
    });
    expect(requestContext(requester, 'accept_invoice', 'claimed')(T0)).toMatchObject({ commandId: 'claimed' });
  });

  it('of work is caused by an event: the one named, else the last one read', () => {
    const at = workerContext(invoice, 'conclude_issue', { actor: 'timer:sweeper' });
    expect(at(T0, cause)).toMatchObject({
      correlationId: 'req_1',
      causationId: 'e1',
      actor: 'timer:sweeper',
      mode: 'test',
      companyId: '12345678000195',
    });
    const named = workerContext(stream, 'allocate_number', { actor: 'worker:test', cause });
    const context = named(T0, { id: 'e2', metadata: { correlationId: 'req_2' } });
    expect(context).toMatchObject({ correlationId: 'req_1', causationId: 'e1' });
    expect(context).not.toHaveProperty('mode');
    expect(context).not.toHaveProperty('companyId');
  });

  it('of work without an event, and of an operator, is caused by itself', () => {
    for (const at of [
      workerContext(invoice, 'conclude_issue', { actor: 'timer:sweeper' }),
      operatorContext('operate_company', { actor: 'support:ana', companyId: '12345678000195' }),
    ]) {
      const { commandId, correlationId, causationId } = at(T0);
      expect([correlationId, causationId]).toEqual([commandId, commandId]);
    }
    expect(operatorContext('record_reveal', { actor: 'support:ana' })(T0, cause)).not.toHaveProperty('companyId');
  });

  it('has another command id for every try', () => {
    const requester = { mode: 'test', companyId: '1', keyId: 'k', requestId: 'r' } as const;
    for (const at of [
      requestContext(requester, 'request_cancellation'),
      workerContext(invoice, 'conclude_issue', { actor: 'timer:sweeper' }),
      operatorContext('operate_company', { actor: 'support:ana' }),
    ])
      expect(at(T0).commandId).not.toBe(at(T0).commandId);
  });
});
