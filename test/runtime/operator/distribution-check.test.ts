import { describe, expect, it } from 'vitest';
import type { Instant } from '../../../src/domain/common/time.js';
import type { DistributionProgress } from '../../../src/ports/distribution.js';
import { readConfig } from '../../../src/runtime/config/config.js';
import { distributionCheck } from '../../../src/runtime/operator/checks.js';
import { at, T0 } from '../../support/fixture/invoice.js';
import { movableClock } from '../../support/harness/event-store.js';

const DAY = 86_400;

const checkOf = async (
  queues: readonly [string, Partial<DistributionProgress>][],
  env: NodeJS.ProcessEnv = {},
  oldest: { neverAsked: number; askedAt?: Instant } = { neverAsked: 0, askedAt: at(3 * DAY - 4_000) },
) => {
  const read = readConfig(env);
  if ('problems' in read) throw new Error(read.problems.join('; '));
  const rows = queues.map(
    ([companyId, progress]) =>
      [companyId, { nsu: 1, askedAt: T0, queueDueAt: T0, dueAt: T0, waiting: [], ...progress }] as const,
  );
  const store = {
    all: async (mode: string) => new Map(mode === 'live' ? rows : []),
    oldestReading: async (mode: string) => (mode === 'live' ? oldest : { neverAsked: 7 }),
  };
  return await distributionCheck(store, read.config.distribution, movableClock(at(3 * DAY)));
};

describe('what doctor says of the queues of the ADN', () => {
  it('is how many were read, and how many invoices wait', async () => {
    const waiting = [{ stream: 'nfseLive-x', tries: 0, dueAt: T0 }];
    expect(await checkOf([['12345678000195', { waiting }]])).toEqual({
      name: 'distribution',
      ok: true,
      cure: undefined,
      detail: '1 queue of the ADN read; 1 invoice to be compared',
    });
  });

  it('is the first company whose queue was not read for two days, and why', async () => {
    const check = await checkOf([
      ['12345678000195', { endSeenAt: at(2 * DAY), reason: 'http_429' }],
      ['98765432000198', { endSeenAt: T0, reason: 'ECONNRESET' }],
      ['11444777000161', { reason: 'http_403' }],
    ]);
    expect(check.detail).toBe(
      '3 queues of the ADN read; 2 never read to the end, or not for two days, the first of CNPJ 98765432000198 (ECONNRESET, http_403)',
    );
    expect([check.ok, check.cure]).toEqual([true, expect.stringContaining('DISTRIBUTION_LIVE_URL')]);
  });

  it('is how old the oldest reading is where a round takes longer than an hour, and how many were not read yet', async () => {
    const [one] = [['12345678000195', {}] as [string, Partial<DistributionProgress>]];
    const askedAt = at(3 * DAY - 10_000);
    expect((await checkOf([one], {}, { neverAsked: 12, askedAt })).detail).toBe(
      '1 queue of the ADN read; 12 not read yet; the oldest reading is 2 h 46 min old, DISTRIBUTION_EVERY_S is 1 h',
    );
    const { detail } = await checkOf([one], { DISTRIBUTION_EVERY_S: '10000' }, { neverAsked: 0, askedAt });
    expect(detail).toBe('1 queue of the ADN read');
  });

  it('is that they are not read', async () => {
    expect((await checkOf([], { DISTRIBUTION_EVERY_S: '0' })).detail).toBe('off: DISTRIBUTION_EVERY_S is 0');
  });
});
