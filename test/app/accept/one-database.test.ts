import { describe, expect, it } from 'vitest';
import { createEventStore, StoreUnavailable } from '../../../src/app/event-store/event-store.js';
import {
  AppendOutcomeUnknown,
  type EventLog,
  EventLogUnavailable,
  type GuardedAppend,
} from '../../../src/ports/event-log.js';
import { type AcceptHarness, acceptHarness, codeOf, idOf } from '../../support/harness/accept.js';
import { fixedKeys } from '../../support/harness/event-store.js';

const openOne = () => acceptHarness({ isOneDatabase: true });

/** Replaces the append with guards; `real` is that of the log. */
const withAppend = (harness: AcceptHarness, change: (real: GuardedAppend) => GuardedAppend): void => {
  const { appendGuarded } = harness.log;
  if (appendGuarded === undefined) throw new Error('two databases');
  const log: EventLog = { ...harness.log, appendGuarded: change(appendGuarded) };
  harness.deps.store = createEventStore(log, fixedKeys());
};

/** Names of the calls that are made to the guards beside the log. */
const watchGuards = ({ deps }: AcceptHarness): string[] => {
  const calls: string[] = [];
  const watched = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (object, name, receiver) => {
        if (typeof name === 'string') calls.push(name);
        return Reflect.get(object, name, receiver);
      },
    });
  deps.idempotency = watched(deps.idempotency);
  deps.duplicates = watched(deps.duplicates);
  return calls;
};

/** Holds every request at its rules until `go`. */
const holdRules = (harness: AcceptHarness) => {
  let go = (): void => {};
  const open = new Promise<void>((resolve) => {
    go = resolve;
  });
  const { company } = harness.deps;
  harness.deps.company = async (id) => {
    await open;
    return await company(id);
  };
  return { go };
};

describe('a keyed request over one database', () => {
  it('is accepted by one append, without a call to the guards beside it', async () => {
    const harness = openOne();
    const calls = watchGuards(harness);
    const id = idOf(await harness.post({ reference: 'r' }, 'k'));
    expect(calls).toEqual([]);
    expect(harness.guards.contents()).toMatchObject({ keys: [{ invoiceId: id }], marks: [{}] });
    expect(idOf(await harness.post({ reference: 'r' }, 'k'))).toBe(id);
    expect(calls).toEqual(['claim']);
  });

  it('keeps its key to itself while its rules are checked', async () => {
    const harness = openOne();
    const { go } = holdRules(harness);
    const first = harness.post({}, 'k');
    expect(codeOf(await harness.post({}, 'k'))).toBe('idempotency_key_in_use');
    expect(codeOf(await harness.post({ amountInCents: 1 }, 'k'))).toBe('idempotency_key_reuse');
    go();
    const id = idOf(await first);
    expect(idOf(await harness.post({}, 'k'))).toBe(id);
    expect(await harness.acceptances()).toHaveLength(1);
  });

  it('that is repeated twice at once is answered with its invoice, twice', async () => {
    const harness = openOne();
    const id = idOf(await harness.post({}, 'k'));
    const { go } = holdRules(harness);
    const one = harness.post({}, 'k');
    expect(idOf(await harness.post({}, 'k'))).toBe(id);
    expect(codeOf(await harness.post({ amountInCents: 1 }, 'k'))).toBe('idempotency_key_reuse');
    go();
    expect(idOf(await one)).toBe(id);
  });

  it('frees its key when it is refused, or when the log certainly stored nothing', async () => {
    const harness = openOne();
    expect(codeOf(await harness.post({ cnae: '9999999' }, 'k'))).toBe('nfse.cnae_not_allowed');
    withAppend(harness, () => () => Promise.reject(new EventLogUnavailable('refused')));
    await expect(harness.post({}, 'k')).rejects.toBeInstanceOf(EventLogUnavailable);
    expect(await harness.acceptances()).toEqual([]);
    expect(harness.guards.contents().marks).toEqual([]);
    withAppend(harness, (real) => real);
    expect(codeOf(await harness.post({ amountInCents: 5 }, 'k'))).toBe('accepted');
  });

  it('whose answer was lost is accepted, because the log shows its event', async () => {
    const harness = openOne();
    withAppend(harness, (real) => async (...given) => {
      await real(...given);
      throw new AppendOutcomeUnknown('lost');
    });
    expect(codeOf(await harness.post({}, 'k'))).toBe('accepted');
    expect(await harness.acceptances()).toHaveLength(1);
  });

  it('that may still come is claimed and appended under the same command, and cannot come any more', async () => {
    const harness = openOne();
    let late: () => Promise<boolean> = async () => true;
    withAppend(harness, (real) => (...given) => {
      late = () => real(...given);
      return Promise.reject(new AppendOutcomeUnknown('late'));
    });
    const id = idOf(await harness.post({}, 'k'));
    expect(await late()).toBe(false);
    const events = await harness.acceptances();
    expect(events.map(({ metadata }) => metadata.commandId)).toEqual([harness.guards.contents().keys[0]?.commandId]);
    expect(idOf(await harness.post({}, 'k'))).toBe(id);
  });

  it('is not answered when nobody can say what was stored', async () => {
    const harness = openOne();
    const { store } = harness.deps;
    const broken: EventLog = {
      ...harness.log,
      appendGuarded: () => Promise.reject(new AppendOutcomeUnknown('lost')),
      read: () => Promise.reject(new Error('away')),
    };
    harness.deps.store = createEventStore(broken, fixedKeys());
    await expect(harness.post({}, 'k')).rejects.toBeInstanceOf(StoreUnavailable);
    harness.deps.store = store;
    expect(codeOf(await harness.post({}, 'k'))).toBe('accepted');
    expect(await harness.acceptances()).toHaveLength(1);
  });

  it('gives another invoice when its key is used again after 24 hours', async () => {
    const harness = openOne();
    const first = idOf(await harness.post({}, 'k'));
    harness.clock.pass(86_400);
    const second = idOf(await harness.post({}, 'k'));
    expect(second).not.toBe(first);
    expect(idOf(await harness.post({}, 'k'))).toBe(second);
    expect(await harness.acceptances()).toHaveLength(2);
  });
});
