import { describe, expect, it } from 'vitest';
import type { Mode } from '../../src/domain/common/ids.js';
import { type Reconciler, runReconciler } from '../../src/workers/reconciler.js';
import { issuingHarness } from '../support/harness/issuing.js';
import { memoryDistributionProgress, memoryProgressStore, SETTINGS } from '../support/harness/reconciliation.js';

/** The reconciliation of one issued invoice, with a count of its look-ups; it ends when `until` returns true. */
const reconciler = async (
  changes: Partial<Reconciler> & { take?: () => Promise<AbortSignal | undefined> },
  until: (seen: Seen) => boolean,
) => {
  const harness = await issuingHarness('live');
  await harness.issueToTheEnd();
  harness.clock.pass(SETTINGS.settledSeconds);
  const ended = new AbortController();
  const seen: Seen = { asked: [], led: 0, resigned: [], isAuthorizerWell: 0, faults: 0 };
  const { take = async () => ended.signal } = changes;
  const look = (): void => {
    if (until(seen)) ended.abort();
  };
  const rows = [{ stream: harness.stream, createdAt: harness.clock.now(), isSampled: true }];
  const running = runReconciler({
    ...harness.deps,
    actor: 'timer:reconciliation',
    progressStore: memoryProgressStore(async (mode) => (mode === 'live' ? rows : [])),
    settings: { ...SETTINGS, roundSeconds: 0, settledSeconds: 0 },
    modes: ['live'],
    paceMs: 1,
    distributionPaceMs: 1,
    distribution: { after: async () => ({ kind: 'end' }) },
    distributionProgress: memoryDistributionProgress(['12345678000195']),
    readModel: { byAccessKeys: async () => [] },
    everySeconds: 0,
    onDistribution: () => undefined,
    signal: ended.signal,
    onComparison: (mode) => {
      seen.asked.push(mode);
      look();
    },
    onDifference: async () => undefined,
    onFault: () => {
      seen.faults += 1;
      look();
    },
    ...changes,
    leadOf: (task, mode) => ({
      take: async () => {
        seen.led += 1;
        look();
        return await take();
      },
      resign: async () => void seen.resigned.push(`${task}-${mode}`),
    }),
    isAuthorizerWell: (mode) => {
      seen.isAuthorizerWell += 1;
      look();
      return (changes.isAuthorizerWell ?? (() => true))(mode);
    },
  });
  await running;
  return seen;
};

type Seen = { asked: Mode[]; led: number; resigned: string[]; isAuthorizerWell: number; faults: number };

describe('the reconciler', () => {
  it('goes round after round while it leads', async () => {
    const { asked } = await reconciler({}, (seen) => seen.asked.length >= 3);
    expect(asked).toEqual(['live', 'live', 'live']);
  });

  it('asks nothing while another process leads', async () => {
    const seen = await reconciler({ take: async () => undefined }, ({ led }) => led >= 5);
    expect(seen.asked).toEqual([]);
  });

  it('asks nothing, and does not even lead, while the environment is out', async () => {
    const seen = await reconciler({ isAuthorizerWell: () => false }, ({ isAuthorizerWell }) => isAuthorizerWell >= 5);
    expect([seen.asked, seen.led]).toEqual([[], 0]);
  });

  it('resigns the lead of each task while the environment is out, and leads again after it', async () => {
    let questions = 0;
    const isAuthorizerWell = (): boolean => {
      questions += 1;
      return questions < 5 || questions > 10;
    };
    const seen = await reconciler({ isAuthorizerWell }, ({ isAuthorizerWell: asked, led }) => asked > 14 && led > 6);
    expect([...new Set(seen.resigned)].toSorted()).toEqual(['distribution-live', 'reconciliation-live']);
    expect(seen.resigned).toHaveLength(6);
  });

  it('follows the queues of the ADN beside its rounds', async () => {
    let answers = 0;
    const ended = new AbortController();
    const seen = await reconciler(
      {
        everySeconds: 1,
        signal: ended.signal,
        onDistribution: () => {
          answers += 1;
          ended.abort();
        },
      },
      () => false,
    );
    expect([answers, seen.faults]).toEqual([1, 0]);
  });

  it('goes on after a fault of its engines', async () => {
    let failures = 0;
    const lead = new AbortController().signal;
    const take = async () => {
      failures += 1;
      if (failures <= 2) throw new Error('away');
      return lead;
    };
    const seen = await reconciler({ take }, ({ asked }) => asked.length >= 1);
    expect([seen.faults, seen.asked.length]).toEqual([2, 1]);
  });
});
