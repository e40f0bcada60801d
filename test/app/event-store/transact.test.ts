import { describe, expect, it } from 'vitest';
import { type DecodedEvent, eventIdOf } from '../../../src/app/event-store/codec.js';
import { operatorContext, requestContext, workerContext } from '../../../src/app/event-store/command-context.js';
import {
  createEventStore,
  type EventStore,
  type LoadedStream,
  NO_STREAM,
  StoreUnavailable,
} from '../../../src/app/event-store/event-store.js';
import type { DomainEvent } from '../../../src/app/event-store/event-types.js';
import {
  anyState,
  type Command,
  create,
  StreamContended,
  transact,
  transactTogether,
} from '../../../src/app/event-store/transact.js';
import { invoiceFold } from '../../../src/app/read/read-invoice.js';
import { noChange } from '../../../src/domain/common/decision.js';
import { dpsStream } from '../../../src/domain/common/ids.js';
import { allocateNumber, dpsNumbersFrom } from '../../../src/domain/dps-number/dps-number.js';
import type { DpsNumberEvent } from '../../../src/domain/dps-number/events.js';
import { AppendOutcomeUnknown, EventLogUnavailable } from '../../../src/ports/event-log.js';
import { accepted, T0 } from '../../support/fixture/invoice.js';
import { contextAt, fixedKeys, movableClock } from '../../support/harness/event-store.js';
import { memoryEventLog } from '../../support/memory/event-log.js';
import { verifyChain } from '../../support/verify-chain.js';

const stream = dpsStream('live', '12345678000195', '1');

const harnessOf = (log = memoryEventLog()) => {
  const store = createEventStore(log, fixedKeys());
  return { log, store, clock: movableClock(T0), loads: 0, decisions: 0, appends: 0 };
};

type Harness = ReturnType<typeof harnessOf>;

/** The store with its calls counted; `meanwhile` is another writer, who appends before each append of the caller. */
const watched = (harness: Harness, meanwhile: () => Promise<unknown> = async () => undefined): EventStore => ({
  load: (...args) => {
    harness.loads += 1;
    return harness.store.load(...args);
  },
  append: async (...args) => {
    harness.appends += 1;
    await meanwhile();
    return harness.store.append(...args);
  },
});

const command = (harness: Harness): Command<{ nextNumber: number; blocked: boolean }, DpsNumberEvent, string> => ({
  stream,
  read: 'last',
  fold: dpsNumbersFrom(1),
  decide: (numbers, { now }) => {
    harness.decisions += 1;
    return allocateNumber(numbers, 'a', now);
  },
  context: workerContext(stream, 'allocate_number', { actor: 'worker:test' }),
});

const numbersIn = async ({ store }: Harness) =>
  (await store.load<DpsNumberEvent>(stream)).events.map(({ data }) => ('number' in data ? data.number : undefined));

/** Another process, which takes the next number by itself. */
const other = (harness: Harness) => () =>
  transact({ ...command(harnessOf()), context: (now) => contextAt(now) }, harness);

describe('a transaction', () => {
  it('appends in the first try, and gives the state and revision after its events', async () => {
    const harness = harnessOf();
    const first = await transact(command(harness), { ...harness, store: watched(harness) });
    expect(first).toMatchObject({ kind: 'appended', state: { nextNumber: 2 }, revision: 0, events: [{}] });
    expect(await transact(command(harness), harness)).toMatchObject({ state: { nextNumber: 3 }, revision: 1 });
    expect(await numbersIn(harness)).toEqual([1, 2]);
    expect([harness.loads, harness.appends]).toEqual([1, 1]);
  });

  it('decides again on the newest state after a lost race', async () => {
    const harness = harnessOf();
    let races = 2;
    const store = watched(harness, async () => (races-- > 0 ? other(harness)() : undefined));
    const outcome = await transact(command(harness), { ...harness, store });
    expect(outcome).toMatchObject({ kind: 'appended', state: { nextNumber: 4 }, revision: 2 });
    expect(await numbersIn(harness)).toEqual([1, 2, 3]);
    expect([harness.loads, harness.decisions, harness.appends]).toEqual([3, 3, 3]);
  });

  it('throws after the last try, with nothing of its own stored', async () => {
    const harness = harnessOf();
    const mine = { ...command(harness), context: operatorContext('operate_company', { actor: 'support:ana' }) };
    const contended = transact(mine, { ...harness, store: watched(harness, other(harness)) });
    await expect(contended).rejects.toThrow(StreamContended);
    expect([harness.loads, harness.appends]).toEqual([32, 32]);
    const { events } = await harness.store.load(stream);
    expect(events.map(({ metadata }) => metadata.actor)).toEqual(Array.from({ length: 32 }, () => 'worker:test'));
  });

  it('appends nothing when the decision refuses', async () => {
    const harness = harnessOf();
    const refusing = { ...command(harness), decide: () => ({ refused: 'blocked' }) };
    const outcome = await transact(refusing, { ...harness, store: watched(harness) });
    expect(outcome).toEqual({ kind: 'refused', refused: 'blocked' });
    expect(harness.appends).toBe(0);
  });

  it('may refuse after a lost race', async () => {
    const harness = harnessOf();
    const once: Command<{ nextNumber: number; blocked: boolean }, DpsNumberEvent, string> = {
      ...command(harness),
      decide: (numbers, { now }) => (numbers.nextNumber > 1 ? { refused: 'taken' } : allocateNumber(numbers, 'a', now)),
    };
    expect(await transact(once, { ...harness, store: watched(harness, other(harness)) })).toEqual({
      kind: 'refused',
      refused: 'taken',
    });
    expect(await numbersIn(harness)).toEqual([1]);
  });

  it('appends nothing when the command had been done already', async () => {
    const harness = harnessOf();
    const done = { ...command(harness), decide: () => noChange };
    const store = watched(harness);
    expect(await transact(done, { ...harness, store })).toEqual({
      kind: 'already_so',
      state: { nextNumber: 1, blocked: false },
      revision: undefined,
    });
    await transact(command(harness), harness);
    expect(await transact(done, { ...harness, store })).toMatchObject({ state: { nextNumber: 2 }, revision: 0 });
    expect(harness.appends).toBe(0);
  });

  it.each([new EventLogUnavailable('down'), new StoreUnavailable('unknown')])(
    'passes on what the log throws, without another try: %s',
    async (fault) => {
      const harness = harnessOf();
      const store: EventStore = { ...watched(harness), append: () => Promise.reject(fault) };
      await expect(transact(command(harness), { ...harness, store })).rejects.toBe(fault);
      expect(harness.loads).toBe(1);
    },
  );

  it('takes an append of unknown outcome for its own when the stream holds its event', async () => {
    const log = memoryEventLog();
    const harness = harnessOf({
      ...log,
      append: async (...args) => {
        await log.append(...args);
        throw new AppendOutcomeUnknown('connection lost');
      },
    });
    expect(await transact(command(harness), harness)).toMatchObject({ kind: 'appended', revision: 0 });
    expect(await numbersIn(harness)).toEqual([1]);
  });

  it('prepares before each append, and not without one', async () => {
    const harness = harnessOf();
    const steps: string[] = [];
    const beforeAppend = async () => {
      steps.push('prepared');
      return undefined;
    };
    let races = 1;
    const store = watched(harness, async () => {
      steps.push('appends');
      if (races-- > 0) await other(harness)();
    });
    await transact({ ...command(harness), beforeAppend }, { ...harness, store });
    expect(steps).toEqual(['prepared', 'appends', 'prepared', 'appends']);
    await transact({ ...command(harness), decide: () => noChange, beforeAppend }, { ...harness, store });
    expect(steps).toHaveLength(4);
  });

  it('appends nothing when the preparation refuses', async () => {
    const harness = harnessOf();
    const refused = await transact({ ...command(harness), beforeAppend: async () => 'held' }, harness);
    expect(refused).toEqual({ kind: 'refused', refused: 'held' });
    expect(await numbersIn(harness)).toEqual([]);
  });

  it('reads as the command says: whole, sealed, or the last event alone', async () => {
    const harness = harnessOf();
    await transact(command(harness), harness);
    await transact(command(harness), harness);
    const seen: number[] = [];
    for (const read of ['opened', 'sealed', 'last'] as const) {
      const decide: Command<undefined, DpsNumberEvent, never>['decide'] = (_state, { events, version }) => {
        seen.push(events.length);
        expect(version).toMatchObject({ kind: 'at', revision: 1 });
        return noChange;
      };
      await transact({ stream, read, fold: anyState, decide, context: (now) => contextAt(now) }, harness);
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
    const harness = harnessOf();
    let races = 1;
    const store = watched(harness, async () => {
      if (races-- <= 0) return;
      await other(harness)();
      harness.clock.pass(5);
    });
    await transact(command(harness), { ...harness, store });
    const { events } = await harness.store.load<DpsNumberEvent>(stream);
    expect(events[1]?.data.at).toBe(events[1]?.metadata.recordedAt);
    expect(events[1]?.data.at).toBe(harness.clock.now());
  });
});

describe('the first event of a stream', () => {
  it('is appended once', async () => {
    const { store } = harnessOf();
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

describe('a transaction on a stream that is known', () => {
  const known = async (harness: Harness) => {
    await transact(command(harness), harness);
    return await harness.store.load<DpsNumberEvent>(stream);
  };

  it('decides and appends without a read', async () => {
    const harness = harnessOf();
    const last = await known(harness);
    const outcome = await transact({ ...command(harness), known: last }, { ...harness, store: watched(harness) });
    expect(outcome).toMatchObject({ kind: 'appended', state: { nextNumber: 3 }, revision: 1 });
    expect([harness.loads, harness.appends]).toEqual([0, 1]);
  });

  it('reads after a lost race, because it is known no longer', async () => {
    const harness = harnessOf();
    const last = await known(harness);
    await other(harness)();
    const outcome = await transact({ ...command(harness), known: last }, { ...harness, store: watched(harness) });
    expect(outcome).toMatchObject({ kind: 'appended', state: { nextNumber: 4 }, revision: 2 });
    expect([harness.loads, harness.appends]).toEqual([1, 2]);
    expect(await numbersIn(harness)).toEqual([1, 2, 3]);
  });

  it('goes on from what an append has added, with the chain unbroken', async () => {
    const harness = harnessOf();
    const { store } = harness;
    const first = { type: 'DpsNumberMoved', data: { nextNumber: 7, at: T0 } } as const;
    const appended = await store.append(stream, NO_STREAM, [first], contextAt(T0));
    if (!appended.ok) throw new Error('nothing was appended');
    expect(appended.added).toEqual(withoutPositions(await store.load(stream)));
    const added = appended.added as LoadedStream<DpsNumberEvent>;
    const outcome = await transact({ ...command(harness), known: added }, { ...harness, store: watched(harness) });
    expect(outcome).toMatchObject({ kind: 'appended', state: { nextNumber: 8 } });
    expect(harness.loads).toBe(0);
    expect((await verifyChain(harness.log, ['dps'])).findings).toEqual([]);
  });
});

const withoutPositions = ({ events, version }: LoadedStream<DomainEvent>) => ({
  version,
  events: events.map((event) => {
    const { position: _position, ...rest } = event as DecodedEvent;
    return rest;
  }),
});

describe('commands that are decided together', () => {
  const together = (harness: Harness, ...invoices: string[]) => ({
    stream,
    read: 'last' as const,
    fold: dpsNumbersFrom(1),
    commands: invoices.map((invoice) => ({
      decide: (numbers: { nextNumber: number; blocked: boolean }, { now }: { now: string }) => {
        harness.decisions += 1;
        return invoice === '' ? { refused: 'nobody' } : allocateNumber(numbers, invoice, now);
      },
      context: workerContext(stream, 'allocate_number', { actor: 'worker:test', cause: causeOf(invoice) }),
    })),
  });
  const causeOf = (invoice: string) => ({ id: `event of ${invoice}`, metadata: { correlationId: `req_${invoice}` } });

  it('are stored by one append, each on the state that the one before leaves and under its own context', async () => {
    const harness = harnessOf();
    const outcomes = await transactTogether(together(harness, 'a', 'b', 'c'), { ...harness, store: watched(harness) });
    expect(outcomes.map((outcome) => outcome.kind === 'appended' && outcome.state.nextNumber)).toEqual([2, 3, 4]);
    expect([harness.loads, harness.appends]).toEqual([1, 1]);
    const { events } = await harness.store.load<DpsNumberEvent>(stream);
    expect(events.map(({ data }) => 'invoiceId' in data && data.invoiceId)).toEqual(['a', 'b', 'c']);
    expect(events.map(({ metadata }) => metadata.correlationId)).toEqual(['req_a', 'req_b', 'req_c']);
    expect(events.map(({ metadata }) => metadata.causationId)).toEqual(['event of a', 'event of b', 'event of c']);
    for (const { id, metadata } of events) expect(id).toBe(eventIdOf(metadata.commandId ?? '', 0));
    expect(new Set(events.map(({ id }) => id)).size).toBe(3);
    expect((await verifyChain(harness.log, ['dps'])).findings).toEqual([]);
  });

  it('are all decided again after a lost race, so that no number is given twice', async () => {
    const harness = harnessOf();
    let races = 1;
    const store = watched(harness, async () => (races-- > 0 ? other(harness)() : undefined));
    const outcomes = await transactTogether(together(harness, 'a', 'b'), { ...harness, store });
    expect(outcomes.map((outcome) => outcome.kind === 'appended' && outcome.state.nextNumber)).toEqual([3, 4]);
    expect(await numbersIn(harness)).toEqual([1, 2, 3]);
  });

  it('are refused one by one, and a refused command does not concern the others', async () => {
    const harness = harnessOf();
    const outcomes = await transactTogether(together(harness, 'a', '', 'b'), harness);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['appended', 'refused', 'appended']);
    expect(await numbersIn(harness)).toEqual([1, 2]);
    const none = await transactTogether(together(harness, '', ''), { ...harness, store: watched(harness) });
    expect(none.map(({ kind }) => kind)).toEqual(['refused', 'refused']);
    expect(harness.appends).toBe(0);
  });
});
