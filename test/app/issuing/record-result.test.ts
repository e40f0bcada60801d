import { afterEach, describe, expect, it, vi } from 'vitest';
import { type EventStore, StoreUnavailable } from '../../../src/app/event-store/event-store.js';
import { EventLogUnavailable } from '../../../src/ports/event-log.js';
import { at, cancelRequested, provenAbsent } from '../../support/fixture/invoice.js';
import { type IssuingHarness, issuingHarness } from '../../support/harness/issuing.js';

type Append = EventStore['append'];

/** What happens to the appends of results, in order; the others reach the log. */
const harnessWhere = async (...faults: readonly ((append: () => ReturnType<Append>) => ReturnType<Append>)[]) => {
  const harness = await issuingHarness();
  const left = [...faults];
  const commandIds: string[] = [];
  const reported: unknown[] = [];
  const { store } = harness;
  harness.deps.store = {
    ...store,
    append: async (stream, version, events, context) => {
      const append = () => store.append(stream, version, events, context);
      if (!context.site.endsWith('_outcome')) return await append();
      commandIds.push(context.commandId);
      return await (left.shift() ?? ((stored) => stored()))(append);
    },
  };
  harness.deps.engineFaults = {
    isFault: (error) => error instanceof EventLogUnavailable || error instanceof StoreUnavailable,
    report: (_stream, error) => reported.push(error),
  };
  return Object.assign(harness, { commandIds, reported });
};

const refused = () => Promise.reject(new EventLogUnavailable('down'));

/** The event is stored, and neither the append nor the read after it shows that. */
const lost = async (append: () => ReturnType<Append>): Promise<never> => {
  await append();
  throw new StoreUnavailable('lost');
};

const lookUps = ({ authorizer }: IssuingHarness): readonly string[] =>
  authorizer.calls.filter((call) => call.startsWith('find'));

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the result of a send', () => {
  it('is recorded when the log can be used again: a refusal ends the invoice after one send and without a look-up', async () => {
    const harness = await harnessWhere(refused, refused);
    harness.authorizer.script = [{ rejected: ['E0160'] }];
    expect(await harness.issue()).toEqual({ kind: 'done' });
    expect(await harness.types()).toEqual(['InvoiceAccepted', 'IssuanceAttempted', 'IssuanceRejected']);
    expect(harness.authorizer.sends).toHaveLength(1);
    expect(lookUps(harness)).toEqual([]);
    expect(harness.reported).toEqual([expect.any(EventLogUnavailable), expect.any(EventLogUnavailable)]);
    expect(new Set(harness.commandIds).size).toBe(1);
  });

  it('is told with the facts of the invoice when it is a refusal, after it was recorded', async () => {
    const harness = await harnessWhere(refused);
    const told: unknown[] = [];
    harness.deps.onRefused = ({ mode, serviceCode }, codes) => told.push([mode, serviceCode, codes]);
    harness.authorizer.script = [{ rejected: ['E0312'] }];
    await harness.issue();
    expect(told).toEqual([['live', '010101', ['E0312']]]);
    harness.authorizer.script = [];
    await harness.issueToTheEnd();
    expect(told).toHaveLength(1);
  });

  it('is recorded in the same way when nothing was sent, so that the same bytes are sent again and issued', async () => {
    const harness = await harnessWhere(refused);
    harness.authorizer.script = ['not_sent'];
    await harness.issueToTheEnd();
    const types = ['InvoiceAccepted', 'IssuanceAttempted', 'IssuanceNotSent', 'IssuanceAttempted', 'Authorized'];
    expect(await harness.types()).toEqual(types);
    expect(lookUps(harness)).toEqual([]);
  });

  it('is recorded in the same way for a cancellation', async () => {
    const harness = await harnessWhere((append) => append(), refused);
    await harness.issueToTheEnd();
    await harness.record(cancelRequested(0));
    harness.authorizer.script = [{ rejected: ['E0822'] }];
    expect(await harness.cancel()).toEqual({ kind: 'done' });
    expect((await harness.invoice()).cancellation).toMatchObject({ status: 'failed', codes: ['E0822'] });
    expect(lookUps(harness)).toEqual([]);
  });

  it.each([
    ['a note', []],
    ['a refusal', [{ rejected: ['E0160'] }]],
  ] as const)(
    'is recorded once when only the answer of the append was lost, and no notice is given: %s',
    async (_what, script) => {
      const harness = await harnessWhere(lost);
      harness.authorizer.script = [...script];
      expect(await harness.issue()).toEqual({ kind: 'done' });
      expect(await harness.types()).toHaveLength(3);
      expect(harness.notices).toEqual([]);
    },
  );

  it('is given up when the stream shows another result of the attempt', async () => {
    const harness = await harnessWhere(async () => {
      await harness.record(provenAbsent(1, 100));
      throw new EventLogUnavailable('down');
    });
    harness.authorizer.script = [{ rejected: ['E0160'] }];
    await harness.issueToTheEnd();
    const types = ['InvoiceAccepted', 'IssuanceAttempted', 'IssuanceProvenAbsent', 'IssuanceAttempted', 'Authorized'];
    expect(await harness.types()).toEqual(types);
  });

  it('is recorded while issuing is paused, after which nothing more is sent', async () => {
    const pausing = new AbortController();
    const harness = await harnessWhere(async () => {
      pausing.abort();
      return await refused();
    });
    harness.deps.pausing = pausing.signal;
    harness.authorizer.script = ['not_sent'];
    expect(await harness.issue()).toMatchObject({ kind: 'later' });
    expect(await harness.types()).toEqual(['InvoiceAccepted', 'IssuanceAttempted', 'IssuanceNotSent']);
    harness.clock.moveTo(at(60));
    // Sooner another process could take the work that does not see the pause yet.
    expect(await harness.issue()).toEqual({ kind: 'later', at: at(65) });
    expect(await harness.types()).toHaveLength(3);
  });

  it('is "not sent" when issuing paused while the attempt was being recorded, as a failover does', async () => {
    const harness = await issuingHarness();
    const pausing = new AbortController();
    const { store } = harness;
    harness.deps.pausing = pausing.signal;
    harness.deps.store = {
      ...store,
      append: (...given) => {
        pausing.abort();
        return store.append(...given);
      },
    };
    expect(await harness.issue()).toMatchObject({ kind: 'later' });
    expect(harness.authorizer.sends).toEqual([]);
    expect(await harness.events()).toMatchObject([
      { type: 'InvoiceAccepted' },
      { type: 'IssuanceAttempted' },
      { type: 'IssuanceNotSent', data: { reason: 'issuing was paused' } },
    ]);
    delete harness.deps.pausing;
    harness.clock.moveTo(at(60));
    await harness.issueToTheEnd();
    expect(harness.authorizer.sends).toHaveLength(1);
  });

  it('is given up at a fault that is none of an engine', async () => {
    const harness = await harnessWhere(() => Promise.reject(new Error('broken')));
    await expect(harness.issue()).rejects.toThrow('broken');
    expect(harness.reported).toEqual([]);
  });

  it.each([
    ['ten minutes after it was there', undefined, 10 * 60_000],
    ['ten minutes after it was there, also while issuing is paused', 'pausing', 10 * 60_000],
    ['ten seconds after the first try of a process that stops', 'stopping', 10_000],
  ] as const)('is given up %s', async (_what, aborts, forMs) => {
    let now = 0;
    const later = (ms: number) => (): Promise<never> => {
      now = ms;
      return refused();
    };
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const ended = new AbortController();
    const harness = await harnessWhere(
      async () => {
        ended.abort();
        return await refused();
      },
      later(forMs - 1),
      later(forMs),
    );
    if (aborts !== undefined) harness.deps[aborts] = ended.signal;
    await expect(harness.issue()).rejects.toThrow('down');
    expect(harness.reported).toHaveLength(2);
    expect(await harness.types()).toEqual(['InvoiceAccepted', 'IssuanceAttempted']);
  });
});
