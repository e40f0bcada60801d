import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createCertificateRefusals } from '../../../src/adapters/read-model-postgres/certificate-refusals.js';
import type { CertificateRefusals } from '../../../src/ports/certificate-refusals.js';
import { DEMO_CNPJ, OTHER_CNPJ } from '../../support/fixture/demo.js';
import { at, T0 } from '../../support/fixture/invoice.js';
import { memoryRefusals } from '../../support/memory/certificate-refusals.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

const refused = { mode: 'live', companyId: DEMO_CNPJ, certificateId: 'old', reason: 'no_json 403' } as const;

/** What the breaker of certificates relies on. */
const promises = (open: () => CertificateRefusals): void => {
  let refusals: CertificateRefusals;
  beforeEach(async () => {
    refusals = open();
    for (const row of await refusals.all()) await refusals.remove(row);
  });

  it('keeps one refusal for a company and mode, with its beginning and its next probe', async () => {
    await refusals.save({ ...refused, at: T0, probeAt: at(15) });
    await refusals.save({ ...refused, reason: 'no_json_403', at: at(5), probeAt: at(99) });
    await refusals.save({ ...refused, mode: 'test', at: at(6), probeAt: at(21) });
    expect(await refusals.all()).toHaveLength(2);
    expect((await refusals.all()).find(({ mode }) => mode === 'live')).toEqual({
      ...refused,
      reason: 'no_json_403',
      since: T0,
      seen: 2,
      lastAt: at(5),
      probeAt: at(15),
    });
  });

  it('starts again with another certificate', async () => {
    await refusals.save({ ...refused, at: T0, probeAt: at(15) });
    await refusals.save({ ...refused, certificateId: 'new', at: at(60), probeAt: at(75) });
    expect(await refusals.all()).toEqual([
      { ...refused, certificateId: 'new', since: at(60), seen: 1, lastAt: at(60), probeAt: at(75) },
    ]);
  });

  it('gives each probe that is due to one caller', async () => {
    await refusals.save({ ...refused, at: T0, probeAt: at(15) });
    expect(await refusals.claimProbe(refused, at(14), at(29))).toBe(false);
    const claims = await Promise.all([1, 2, 3].map(() => refusals.claimProbe(refused, at(15), at(30))));
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(await refusals.claimProbe({ ...refused, companyId: OTHER_CNPJ }, at(99), at(120))).toBe(false);
  });

  it('forgets a company that is taken again', async () => {
    await refusals.save({ ...refused, at: T0, probeAt: at(15) });
    await refusals.remove({ mode: 'test', companyId: DEMO_CNPJ });
    expect(await refusals.all()).toHaveLength(1);
    await refusals.remove(refused);
    expect(await refusals.all()).toEqual([]);
  });
};

describe('refused certificates in memory', () => {
  const memory = memoryRefusals();
  promises(() => memory);
});

describeWithPostgres('refused certificates in PostgreSQL', () => {
  let database: FreshDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(() => database.close());
  promises(() => createCertificateRefusals(database.pool));
});
