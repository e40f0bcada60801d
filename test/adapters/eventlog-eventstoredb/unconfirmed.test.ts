import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEventStore } from '../../../src/app/event-store/event-store.js';
import type { IssueRequest } from '../../../src/domain/company/eligibility.js';
import { EventLogUnavailable } from '../../../src/ports/event-log.js';
import { createDoubleLog, type DoubleLog, type Written } from '../../support/eventstore-double/log.js';
import { acceptHarness, codeOf } from '../../support/harness/accept.js';
import { chained, NONE } from '../../support/harness/event-log.js';
import { fixedKeys } from '../../support/harness/event-store.js';
import { type EventStoreHarness, openEventStoreHarness } from '../../support/harness/eventstore-log.js';

type Append = Parameters<DoubleLog['append']>;

type Waiting = { append: Append; show(written: Written): void };

/**
 * The log of a leader. While appends are held, it has written them and does not show them, because its followers have not confirmed them or its index
 * is late. It finds conflicts against everything that it has written, and gives no answer to an append that it has written already.
 */
const createLeaderLog = (): { log: DoubleLog; hold(): void; confirm(): void } => {
  const shown = createDoubleLog();
  let isHeld = false;
  let waiting: Waiting[] = [];

  const lastWritten = (stream: string): bigint => {
    const content = shown.read(stream);
    const last = content.kind === 'found' ? (content.events.at(-1)?.revision ?? -1n) : -1n;
    const held = waiting.filter(({ append: [of] }) => of === stream);
    return held.reduce((revision, { append: [, , events] }) => revision + BigInt(events.length), last);
  };

  return {
    log: {
      ...shown,
      append: (...append) => {
        const [stream, expected, events] = append;
        if (!isHeld) return shown.append(...append);
        const isRepeated = waiting.some(({ append: [of, , held] }) => of === stream && held[0]?.id === events[0]?.id);
        if (isRepeated) return { kind: 'unconfirmed', shown: new Promise(() => undefined) };
        const last = lastWritten(stream);
        const wanted = expected === 'no_stream' ? -1n : expected;
        if (typeof wanted === 'bigint' && wanted !== last)
          return { kind: 'conflict', current: last < 0n ? null : last };
        return { kind: 'unconfirmed', shown: new Promise((show) => waiting.push({ append, show })) };
      },
    },
    hold: () => {
      isHeld = true;
    },
    confirm: () => {
      isHeld = false;
      for (const { append, show } of waiting) show(shown.append(...append));
      waiting = [];
    },
  };
};

/** For tests in which the time of an append ends. */
const SHORT = { appendDeadlineMs: 300 };

let harness: EventStoreHarness;
beforeEach(() => {
  harness = openEventStoreHarness();
});
afterEach(() => harness.close());

const openLeader = async (options: { appendDeadlineMs?: number } = {}) => {
  const leader = createLeaderLog();
  const { url } = await harness.double({ log: leader.log });
  const log = harness.open(url, options);
  await log.head();
  return { ...leader, log };
};

const settled = (append: Promise<unknown>): Promise<unknown> => append.catch((error: Error) => error);

describe('a leader that refuses an append because of events that it does not show yet', () => {
  it('is waited for: a conflict is answered when the events of the other writer can be read', async () => {
    const { log, hold, confirm } = await openLeader();
    hold();
    const first = log.append('nfseTest-a', NONE, [chained('nfseTest-a', 0)]);
    const second = log.append('nfseTest-a', NONE, [chained('nfseTest-a', 0)]);
    const shown = second.then(() => log.read('nfseTest-a'));
    await expect.poll(() => log.read('nfseTest-a')).toEqual([]);
    confirm();
    expect(await first).toEqual({ ok: true, revision: 0 });
    expect(await second).toEqual({ ok: false, actual: 0 });
    expect(await shown).toHaveLength(1);
  });

  it('is unavailable when the time of the append is over, and nothing was stored', async () => {
    const { log, hold, confirm } = await openLeader(SHORT);
    const [ours, theirs] = [chained('nfseTest-a', 0), chained('nfseTest-a', 0)];
    hold();
    const first = settled(log.append('nfseTest-a', NONE, [theirs]));
    expect(await settled(log.append('nfseTest-a', NONE, [ours]))).toBeInstanceOf(EventLogUnavailable);
    await first;
    confirm();
    expect((await log.read('nfseTest-a')).map(({ id }) => id)).toEqual([theirs.id]);
  });
});

describe('a request that is repeated while followers of the leader do not confirm', () => {
  const openService = async (options?: typeof SHORT) => {
    const leader = await openLeader(options);
    const service = acceptHarness();
    service.deps.store = createEventStore(leader.log, fixedKeys());
    const post = (request: Partial<IssueRequest> = {}): Promise<string> =>
      service.post(request, 'order-1').then(codeOf, (error: Error) => error.constructor.name);
    const acceptances = async (): Promise<number> => {
      const events = await leader.log.readAll({ prefixes: ['nfse'], after: null, limit: 100 });
      return events.filter(({ type }) => type === 'InvoiceAccepted').length;
    };
    return { ...leader, clock: service.clock, deps: service.deps, post, acceptances };
  };

  it.each([
    ['with a key', {}],
    ['with a key and a reference', { reference: 'sale-1' }],
  ])('%s becomes one invoice, however often it came', async (_with, request) => {
    const { hold, confirm, clock, post, acceptances } = await openService(SHORT);
    hold();
    const answers: string[] = [];
    for (let tries = 0; tries < 4; tries += 1) {
      answers.push(await post(request));
      clock.pass(25);
    }
    expect(answers).toEqual(['AppendMayCome', 'EventLogUnavailable', 'EventLogUnavailable', 'EventLogUnavailable']);
    confirm();
    expect(await post(request)).toBe('accepted');
    expect(await acceptances()).toBe(1);
  });

  it('becomes one invoice when a frozen process and its successor append at the same time', async () => {
    const { hold, confirm, clock, deps, post, acceptances } = await openService();
    let thaw = (): void => undefined;
    const frozen = new Promise<void>((resolve) => {
      thaw = resolve;
    });
    const { append } = deps.store;
    let waiting = 0;
    deps.store = {
      ...deps.store,
      append: async (...appended) => {
        waiting += 1;
        await frozen;
        return await append(...appended);
      },
    };
    const first = post();
    await expect.poll(() => waiting).toBe(1);
    clock.pass(31);
    const second = post();
    await expect.poll(() => waiting).toBe(2);
    hold();
    thaw();
    await expect.poll(() => deps.store.load('nfseLive-x' as never)).toMatchObject({ events: [] });
    confirm();
    expect(await Promise.all([first, second])).toEqual(['accepted', 'accepted']);
    expect(await acceptances()).toBe(1);
  });
});
