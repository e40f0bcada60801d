import { afterAll, beforeAll, expect, it } from 'vitest';
import { createParametersCache } from '../../../src/adapters/municipal-parameters/cache.js';
import { eligibilityFacts } from '../../../src/runtime/roles/eligibility-facts.js';
import { eventually } from '../../support/eventually.js';
import { catalogue, DEMO_CNPJ, demoCompany } from '../../support/fixture/demo.js';
import { T0 } from '../../support/fixture/invoice.js';
import { movableClock } from '../../support/harness/event-store.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

const RIO = '3304557';

describeWithPostgres('the only municipal code of a line', () => {
  let database: FreshDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(() => database.close());

  it('is noted as needed while answers about the line lack, the next one each time', async () => {
    const cache = createParametersCache(database.pool);
    const clock = movableClock(T0);
    const engines = { pool: database.pool, readModel: { municipalityDemands: async () => undefined } };
    const factsOf = eligibilityFacts({ engines, clock }, async () => catalogue);
    const codeOf = async (serviceCode: string): Promise<string | undefined> => {
      // Later than the stored answers are kept in memory.
      clock.pass(60);
      const { municipality } = await factsOf(demoCompany(DEMO_CNPJ), 'live');
      return municipality?.onlyMunicipalCode?.(serviceCode);
    };
    const needed = async (): Promise<readonly string[]> =>
      (await cache.entriesOf(RIO)).filter(({ known }) => known === undefined).map(({ questionKey }) => questionKey);

    expect(await codeOf('010201')).toBeUndefined();
    expect(await eventually(needed, (keys) => keys.length > 0)).toEqual(['aliquota/01.02.01.000']);
    for (const code of ['000', '001', '002', '003', '004', '005', '006', '007']) {
      const rates = code === '002' ? [{ percent: '5.00', from: '2023-01-01' }] : [];
      const questionKey = `aliquota/01.02.01.${code}`;
      await cache.keep('live', RIO, { questionKey, known: { kind: 'aliquota', rates }, knownAt: clock.now() });
    }
    expect(await codeOf('010201')).toBe('002');
    expect(await needed()).toEqual([]);
  });
});
