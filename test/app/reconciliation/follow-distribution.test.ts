import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readDistribution } from '../../../src/adapters/authorizer/distribution.js';
import { distributionStep } from '../../../src/app/reconciliation/follow-distribution.js';
import type { AccessKey } from '../../../src/domain/common/access-key.js';
import type { StreamName } from '../../../src/domain/common/ids.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { cancelRequested } from '../../support/fixture/invoice.js';
import {
  memoryDistributionProgress,
  openReconciliationHarness,
  REFUSED,
  type ReconciliationHarness,
} from '../../support/harness/reconciliation.js';

const HOUR = 3_600;

describe('the queue of the ADN', () => {
  let harness: ReconciliationHarness;
  beforeEach(async () => {
    harness = await openReconciliationHarness();
  });
  afterEach(() => harness.close());

  const eventElsewhere = async (stream: string, type: string) =>
    await harness.simulator.control('POST', 'events', {
      environment: 'live',
      access_key: await harness.accessKey(stream),
      type,
    });
  const typesOf = async (stream: StreamName) => (await harness.events(stream)).map(({ type }) => type);
  const progress = async () => (await harness.deps.distributionProgress.all('live')).get(DEMO_CNPJ);

  it.each(['101101', '105104', '305101'])(
    'tells of a note that was canceled elsewhere (%s), within the time between two readings',
    async (type) => {
      const [canceled, other] = [await harness.issue(), await harness.issue()];
      await harness.followToTheEnd();
      expect(harness.answers).toEqual(['documents', 'end']);
      harness.clock.pass(HOUR);
      await eventElsewhere(canceled, type);
      await harness.followToTheEnd();
      expect([await harness.status(canceled), await harness.status(other)]).toEqual(['canceled', 'issued']);
      expect(await typesOf(canceled)).toContain('NoteCanceledElsewhere');
      expect(harness.looks).toEqual(['canceled_elsewhere']);
      expect(await progress()).toMatchObject({ nsu: 3, waiting: [] });
    },
  );

  it.each([
    ['issued', 'canceled', ['canceled_elsewhere']],
    ['canceled', 'canceled', []],
    ['replaced', 'issued', []],
  ] as const)('tells of the note of an invoice that was imported as %s', async (state, status, looks) => {
    const stream = await harness.importNote(state);
    harness.clock.pass(HOUR);
    await eventElsewhere(stream, '105102');
    await harness.followToTheEnd();
    expect([await harness.status(stream), harness.looks]).toEqual([status, looks]);
    expect(await harness.differences(stream)).toEqual([]);
    expect(await progress()).toMatchObject({ waiting: [], unmatchedNotes: [] });
  });

  it('is read on from its last number, and not again before the time between two readings is over', async () => {
    await harness.issue();
    await harness.followToTheEnd();
    await harness.issue();
    await harness.followToTheEnd();
    expect(harness.answers).toEqual(['documents', 'end']);
    harness.clock.pass(HOUR);
    await harness.followToTheEnd();
    expect(harness.answers).toEqual(['documents', 'end', 'documents', 'end']);
    expect((await progress())?.nsu).toBe(2);
  });

  it('makes no look-up for an event that cancels nothing, for a cancellation of ours, or for a note of others', async () => {
    const [confirmed, own] = [await harness.issue(), await harness.issue()];
    await eventElsewhere(confirmed, '203202');
    await harness.cancel(own);
    harness.streams.splice(harness.streams.indexOf(confirmed), 1);
    harness.clock.pass(HOUR);
    await harness.followToTheEnd();
    expect(harness.looks).toEqual([]);
    expect(await progress()).toMatchObject({ nsu: 4, waiting: [] });
  });

  it('waits for work of ours that is under way, and takes our own event for ours', async () => {
    const stream = await harness.issue();
    harness.clock.pass(HOUR);
    await harness.record(stream, cancelRequested(0));
    await eventElsewhere(stream, '305101');
    await harness.followToTheEnd();
    expect(harness.looks).toEqual(['left_alone']);
    expect((await progress())?.waiting).toMatchObject([{ stream, tries: 1 }]);
  });

  it('leaves an invoice whose comparison proves nothing to the rounds, after five tries an hour apart', async () => {
    const stream = await harness.issue();
    harness.clock.pass(HOUR);
    await eventElsewhere(stream, '105102');
    await harness.simulator.control('POST', 'faults', { on: 'lookup', kind: 'http_404_html', times: 50 });
    for (let hours = 0; hours < 6; hours += 1) {
      for (let steps = 0; steps < 4; steps += 1) await distributionStep('live', harness.deps);
      harness.clock.pass(HOUR);
    }
    expect(harness.looks).toEqual(Array.from({ length: 5 }, () => 'inconclusive'));
    expect((await progress())?.waiting).toEqual([]);
  });

  it('asks again an hour later when the authorizer does not show the event yet', async () => {
    const stream = await harness.issue();
    harness.clock.pass(HOUR);
    await eventElsewhere(stream, '101101');
    for (const on of ['event_lookup', 'event_list'])
      await harness.simulator.control('POST', 'faults', { on, kind: 'stale', times: 50 });
    await harness.followToTheEnd();
    expect([harness.looks, await harness.status(stream)]).toEqual([['agrees'], 'issued']);
    expect((await progress())?.waiting).toMatchObject([{ stream, tries: 1 }]);
    await harness.simulator.control('DELETE', 'faults');
    harness.clock.pass(HOUR);
    await harness.followToTheEnd();
    expect([harness.looks, await harness.status(stream)]).toEqual([['agrees', 'canceled_elsewhere'], 'canceled']);
    expect((await progress())?.waiting).toEqual([]);
  });

  it('counts a comparison that throws as a try, and reports it', async () => {
    const stream = await harness.issue();
    harness.clock.pass(HOUR);
    await eventElsewhere(stream, '101101');
    expect(await distributionStep('live', harness.deps)).toBe('asked');
    const broken = {
      ...harness.deps,
      authorizer: { ...harness.deps.authorizer, findByDps: () => Promise.reject(new Error('broken')) },
    };
    await expect(distributionStep('live', broken)).rejects.toThrow('broken');
    expect((await progress())?.waiting).toMatchObject([{ stream, tries: 1 }]);
  });

  it('waits for an invoice that cannot be read, reports it, and reads on', async () => {
    const [broken, canceled] = [await harness.issue(), await harness.issue()];
    harness.clock.pass(HOUR);
    for (const stream of [broken, canceled]) await eventElsewhere(stream, '101101');
    const { store } = harness.deps;
    const load: typeof store.load = (stream, options) =>
      stream === broken ? Promise.reject(new Error('a newer version')) : store.load(stream, options);
    const deps = { ...harness.deps, store: { ...store, load } };
    const faults: unknown[] = [];
    for (let steps = 0; steps < 6; steps += 1)
      await distributionStep('live', deps).catch((error: unknown) => faults.push(error));
    expect([await harness.status(canceled), faults.length]).toEqual(['canceled', 1]);
    expect(await progress()).toMatchObject({ nsu: 4, waiting: [{ stream: broken, tries: 1 }] });
    harness.clock.pass(HOUR);
    await harness.followToTheEnd();
    expect([await harness.status(broken), (await progress())?.waiting]).toEqual(['canceled', []]);
  });

  it.each([
    ['refuses by a page', REFUSED],
    ['did not see, because it expired', { kind: 'inconclusive', reason: 'certificate_expired' }],
  ] as const)(
    'puts off all waiting invoices of a company whose certificate the authorizer %s',
    async (_which, answer) => {
      const streams = [await harness.issue(), await harness.issue(), await harness.issue()];
      harness.clock.pass(HOUR);
      for (const stream of streams) await eventElsewhere(stream, '101101');
      const findByDps = async () => answer;
      const deps = { ...harness.deps, authorizer: { ...harness.deps.authorizer, findByDps } };
      const results: string[] = [];
      for (let steps = 0; steps < 4; steps += 1) results.push(await distributionStep('live', deps));
      expect([results, harness.looks]).toEqual([['asked', 'asked', 'asked', 'nothing to do'], ['inconclusive']]);
      expect((await progress())?.waiting.map(({ tries }) => tries)).toEqual([0, 0, 1]);
      harness.clock.pass(HOUR);
      await harness.followToTheEnd();
      for (const stream of streams) expect(await harness.status(stream)).toBe('canceled');
    },
  );

  it('opens no personal field to find the invoices of its notes', async () => {
    const stream = await harness.issue();
    harness.clock.pass(HOUR);
    await eventElsewhere(stream, '101101');
    const { store } = harness.deps;
    const opened: string[] = [];
    const load: typeof store.load = (of, options) => {
      if (options?.sealed !== true) opened.push(of);
      return store.load(of, options);
    };
    await distributionStep('live', { ...harness.deps, store: { ...store, load } });
    expect([opened, (await progress())?.waiting]).toMatchObject([[], [{ stream }]]);
  });

  it('whose reading throws is read again later, and the other companies come first', async () => {
    const stream = await harness.issue();
    harness.clock.pass(HOUR);
    await eventElsewhere(stream, '101101');
    const asked: string[] = [];
    const { distribution } = harness.deps;
    const deps = {
      ...harness.deps,
      distributionProgress: memoryDistributionProgress([DEMO_CNPJ, '98765432000198']),
      distribution: {
        after: async (...call: Parameters<typeof distribution.after>) => {
          asked.push(call[0].companyId);
          return call[0].companyId === DEMO_CNPJ ? distribution.after(...call) : ({ kind: 'end' } as const);
        },
      },
    };
    const broken = { ...deps, readModel: { byAccessKeys: () => Promise.reject(new Error('broken')) } };
    await expect(distributionStep('live', broken)).rejects.toThrow('broken');
    expect(await distributionStep('live', broken)).toBe('asked');
    expect(asked).toEqual([DEMO_CNPJ, '98765432000198']);
    harness.clock.pass(10);
    await harness.followToTheEnd(deps);
    expect(await harness.status(stream)).toBe('canceled');
  });

  it('keeps its place when an answer proves nothing, and is asked again later', async () => {
    await harness.issue();
    await harness.followToTheEnd();
    harness.clock.pass(HOUR);
    const refused = {
      ...harness.deps,
      distribution: { after: async () => ({ kind: 'inconclusive', reason: 'http_429' }) as const },
    };
    expect(await distributionStep('live', refused)).toBe('inconclusive');
    expect(await distributionStep('live', refused)).toBe('nothing to do');
    expect(await progress()).toMatchObject({ nsu: 1, reason: 'http_429' });
    harness.clock.pass(HOUR);
    await harness.followToTheEnd();
    expect((await progress())?.reason).toBeUndefined();
  });

  it('is asked again soon after a 429, and ever later while answers prove nothing', async () => {
    let isBusy = true;
    const queue = {
      ...harness.deps,
      distribution: {
        after: async () =>
          isBusy ? ({ kind: 'inconclusive', reason: 'http_429' } as const) : ({ kind: 'end' } as const),
      },
    };
    for (const seconds of [10, 20, 40, 80]) {
      expect(await distributionStep('live', queue)).toBe('inconclusive');
      harness.clock.pass(seconds - 1);
      expect(await distributionStep('live', queue)).toBe('nothing to do');
      harness.clock.pass(1);
    }
    isBusy = false;
    expect(await distributionStep('live', queue)).toBe('asked');
    expect((await progress())?.failures).toBeUndefined();
  });

  it.each(['canceled at the portal before its invoice was known', 'never known'])(
    'keeps a note of the company that no invoice has: %s',
    async (what) => {
      const stream = await harness.issue();
      await eventElsewhere(stream, '101101');
      const known = harness.deps.readModel;
      const behind = { ...harness.deps, readModel: { byAccessKeys: async () => [] } };
      await harness.followToTheEnd(behind);
      expect((await progress())?.unmatchedNotes).toMatchObject([{ accessKey: await harness.accessKey(stream) }]);
      const isKnown = what !== 'never known';
      harness.clock.pass(isKnown ? HOUR : 30 * 24 * HOUR);
      await harness.followToTheEnd(isKnown ? { ...harness.deps, readModel: known } : behind);
      expect((await progress())?.unmatchedNotes).toEqual([]);
      expect(await harness.status(stream)).toBe(isKnown ? 'canceled' : 'issued');
    },
  );

  it('keeps no note of another company', async () => {
    const stream = await harness.issue();
    await eventElsewhere(stream, '101101');
    const own = await harness.accessKey(stream);
    const foreign = own.replace(DEMO_CNPJ, '98765432000198');
    await distributionStep('live', {
      ...harness.deps,
      distribution: { after: async () => ({ kind: 'documents', last: 2, canceled: [foreign as AccessKey] }) as const },
    });
    expect(await progress()).toMatchObject({ nsu: 2, waiting: [], unmatchedNotes: [] });
  });

  it('goes on behind its last document after an answer with a number that no queue can have reached', async () => {
    const stream = await harness.issue();
    await harness.followToTheEnd();
    harness.clock.pass(HOUR);
    await eventElsewhere(stream, '101101');
    const absurd = { LoteDFe: [{ NSU: Number.MAX_SAFE_INTEGER, TipoDocumento: 'NFSE' }] };
    const body = Buffer.from(JSON.stringify(absurd));
    await distributionStep('live', {
      ...harness.deps,
      distribution: {
        after: async (_caller, nsu) =>
          readDistribution(nsu, { kind: 'answered', status: 200, contentType: 'application/json', body }),
      },
    });
    expect(await progress()).toMatchObject({ nsu: 1, reason: 'nsu_too_far' });
    harness.clock.pass(HOUR);
    await harness.followToTheEnd();
    expect([(await progress())?.nsu, await harness.status(stream)]).toEqual([2, 'canceled']);
  });

  it.each([
    ['without a certificate', 'certificate_missing'],
    ['with an expired certificate', 'certificate_expired'],
  ] as const)('of a company %s holds up no other company', async (_which, reason) => {
    const asked: string[] = [];
    const deps = {
      ...harness.deps,
      distributionProgress: memoryDistributionProgress([DEMO_CNPJ, '98765432000198']),
      distribution: {
        after: async ({ companyId }: { companyId: string }) => {
          asked.push(companyId);
          return companyId === DEMO_CNPJ ? ({ kind: 'inconclusive', reason } as const) : ({ kind: 'end' } as const);
        },
      },
    };
    expect([await distributionStep('live', deps), await distributionStep('live', deps)]).toEqual(['asked', 'asked']);
    expect(asked.toSorted()).toEqual([DEMO_CNPJ, '98765432000198']);
  });

  it('is read, and its waiting invoices are compared, at once when the clock was set back', async () => {
    const stream = await harness.issue();
    harness.clock.pass(2 * 24 * HOUR);
    await eventElsewhere(stream, '101101');
    const faulty = {
      ...harness.deps,
      authorizer: {
        ...harness.deps.authorizer,
        findByDps: async () => ({ kind: 'inconclusive', reason: 'x' }) as const,
      },
    };
    await harness.followToTheEnd(faulty);
    expect((await progress())?.waiting).toMatchObject([{ stream, tries: 1 }]);
    const before = harness.answers.length;
    harness.clock.pass(-24 * HOUR);
    await harness.followToTheEnd();
    expect([await harness.status(stream), harness.answers.slice(before)]).toEqual(['canceled', ['end']]);
    expect(await distributionStep('live', harness.deps)).toBe('nothing to do');
  });

  it('is not asked when the time between two readings is 0', async () => {
    expect(await distributionStep('live', { ...harness.deps, everySeconds: 0 })).toBe('nothing to do');
    expect(harness.answers).toEqual([]);
  });
});
