import { expect } from 'vitest';
import { allProjections } from '../../projections/registry.js';
import { verifyLog } from '../../src/app/audit/verify-log.js';
import { unreachable } from '../../src/domain/common/unreachable.js';
import { isEarlier, type RecordedEvent } from '../../src/ports/event-log.js';
import { applyBatch } from '../../src/projector/batch.js';
import { readCheckpoint } from '../../src/projector/checkpoints.js';
import { prepareProjections } from '../../src/projector/projector.js';
import { systemClock } from '../../src/runtime/engines/clock.js';
import { type SeenInvoice, waitFor } from '../support/harness/careful-client.js';
import type { CrashHarness } from '../support/harness/crash.js';
import { isCanceled } from '../support/harness/ledger.js';
import { dump, liveOf } from '../support/harness/projector.js';
import type { ExternalSimulator } from '../support/harness/simulator-process.js';
import { freshDatabase } from '../support/postgres.js';
import type { Crash } from './crash.js';

/** The authorizer's ledger and the client's view agree with the expected outcome. */
export const expectEnd = async (crash: Crash, seen: SeenInvoice): Promise<void> => {
  const notes = await crash.simulator.notes(crash.amountInCents);
  const { ends } = crash.scenario;
  switch (ends) {
    case 'failed':
    case 'indeterminate':
      expect(notes).toEqual([]);
      expect(seen.status).toBe(ends);
      expect(seen.access_key).toBeUndefined();
      return;
    case 'issued':
    case 'canceled':
    case 'canceled elsewhere':
    case 'not canceled': {
      const isGone = ends === 'canceled' || ends === 'canceled elsewhere';
      expect(notes).toHaveLength(1);
      expect(seen.status).toBe(isGone ? 'canceled' : 'issued');
      expect(seen.access_key).toBe(notes[0]?.access_key);
      expect(seen.cancellation?.status).toBe(CANCELLATION[ends]);
      expect(notes.filter(isCanceled)).toHaveLength(isGone ? 1 : 0);
      return;
    }
    case 'deleted':
      throw new Error('a deleted invoice is not seen any more');
    default:
      unreachable(ends);
  }
};

const CANCELLATION = {
  issued: undefined,
  canceled: 'succeeded',
  'canceled elsewhere': undefined,
  'not canceled': 'failed',
} as const;

/** The chain holds, each accepted invoice has one stream and one outcome, and no number belongs to two of them. */
export const expectSoundLog = async ({ engines }: CrashHarness): Promise<void> => {
  expect((await verifyLog(engines.log)).findings.kept).toEqual([]);
  const events = await wholeLog({ engines }, 'nfse');
  const owners = new Map<string, Set<string>>();
  for (const stream of new Set(events.map((event) => event.stream))) {
    const own = events.filter((event) => event.stream === stream);
    const types = own.map(({ type }) => type);
    expect(['InvoiceAccepted', 'InvoiceImported', 'ReferenceTaken', 'TestInvoiceDeleted']).toContain(types[0]);
    if (types[0] === 'InvoiceImported' || types[0] === 'ReferenceTaken') expect(types).toHaveLength(1);
    expect(types.filter((type) => type === 'InvoiceAccepted').length, types.join()).toBeLessThanOrEqual(1);
    expect(types.filter((type) => OUTCOMES.includes(type)).length, types.join()).toBeLessThanOrEqual(1);
    for (const { type, data } of own) {
      if (type !== 'IssuanceAttempted') continue;
      const dpsId = String(data.dpsId);
      owners.set(dpsId, (owners.get(dpsId) ?? new Set()).add(stream));
    }
  }
  expect([...owners.values()].filter(({ size }) => size > 1)).toEqual([]);
  const allocated = (await wholeLog({ engines }, 'dps')).filter(({ type }) => type === 'DpsNumberAllocated');
  const numbers = allocated.map(({ stream, data }) => `${stream}/${data.number}`);
  expect(numbers).toEqual([...new Set(numbers)]);
};

const MOST_EVENTS = 100_000;
const CAUGHT_UP_WITHIN_MS = 120_000;

/** Every row that is read is what a fold of the whole log into an empty database gives, byte for byte. */
export const expectRowsOfLog = async ({ engines: { log, pool } }: Pick<CrashHarness, 'engines'>): Promise<void> => {
  const fresh = await freshDatabase();
  try {
    // Databases of one template have one log identity, and the empty log here is no shorter end of the other.
    await fresh.admin.query('update event_log_head set identity = gen_random_uuid()');
    await prepareProjections(fresh.pool, log, systemClock, allProjections);
    for (const projection of allProjections) {
      const events = await log.readAll({ prefixes: projection.prefixes, after: null, limit: MOST_EVENTS });
      const last = events[events.length - 1]?.position ?? null;
      // The checkpoint of a quiet projection moves on over the events of others.
      await waitFor(`${projection.name} to catch up`, CAUGHT_UP_WITHIN_MS, async () =>
        isEarlier(await readCheckpoint(pool, projection), last) ? undefined : true,
      );
      if (last !== null) {
        const generation = await liveOf(fresh.pool, projection);
        const outcome = await applyBatch(fresh.pool, generation, null, events, systemClock.now());
        expect(outcome.kind).toBe('applied');
      }
      expect(await dump(pool, projection), projection.name).toEqual(await dump(fresh.pool, projection));
    }
  } finally {
    await fresh.close();
  }
};

const OUTCOMES = ['Authorized', 'IssuanceRejected', 'IssuanceFailed', 'NotProcessed', 'IssuanceInterrupted'];

export const wholeLog = (
  { engines }: Pick<CrashHarness, 'engines'>,
  prefix: string,
): Promise<readonly RecordedEvent[]> => engines.log.readAll({ prefixes: [prefix], after: null, limit: MOST_EVENTS });

/** At the end of the run: every request had a unique amount, so no two notes may have the same amount. */
export const expectNoDoubles = async (simulator: ExternalSimulator): Promise<void> => {
  const amounts = (await simulator.notes()).map(({ amount_in_cents }) => amount_in_cents);
  expect(amounts).toEqual([...new Set(amounts)]);
};
