import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { catalogLines } from '../../projections/catalog-lines.js';
import { invoices } from '../../projections/invoices.js';
import { municipalities } from '../../projections/municipalities.js';
import { operatorProjections } from '../../projections/registry.js';
import { taxRegistry } from '../../projections/tax-registry.js';
import type { Projection } from '../../projections/types.js';
import { createReadModel } from '../../src/adapters/read-model-postgres/read-model.js';
import { catalogStream, type OperatorLine } from '../../src/domain/catalog/events.js';
import { municipalityStream } from '../../src/domain/municipality/events.js';
import { registryStream } from '../../src/domain/registry/events.js';
import type { EventLog } from '../../src/ports/event-log.js';
import { applyStreamNow } from '../../src/projector/apply-now.js';
import { applyBatch } from '../../src/projector/batch.js';
import { accepted, attempted, authorized, streamOf } from '../support/fixture/histories.js';
import { allOf, appendEvents, dump, emptyProjections, liveOf, NOW } from '../support/harness/projector.js';
import { memoryEventLog } from '../support/memory/event-log.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../support/postgres.js';

const CNPJ = '11222333000181';
const line = (serviceCode: string): OperatorLine => ({
  cnae: '6201501',
  serviceCode,
  description: 'A',
  isDefault: true,
  isBlocked: false,
});
const ours: readonly Projection[] = [catalogLines, municipalities, taxRegistry];

describeWithPostgres('the read model of reference data', () => {
  let database: FreshDatabase;
  let log: EventLog;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    log = memoryEventLog();
    await emptyProjections(database.pool, log);
    await appendEvents(log, catalogStream('6201501'), [
      { type: 'CatalogLinesReplaced', data: { cnae: '6201501', lines: [line('010101')], at: NOW } },
      { type: 'CatalogLinesReplaced', data: { cnae: '6201501', lines: [line('010201'), line('010301')], at: NOW } },
    ]);
    await appendEvents(log, municipalityStream('3304557'), [
      { type: 'MunicipalityDemandsSet', data: { ibge: '3304557', requiresCustomer: true, at: NOW } },
    ]);
    await appendEvents(log, registryStream(CNPJ), [
      { type: 'RegistryEntryPut', data: { cnpj: CNPJ, legalName: 'MARIA SEGREDO', at: NOW } },
    ]);
  });
  afterAll(() => database.close());

  const project = async (): Promise<void> => {
    for (const projection of ours) {
      await applyBatch(database.pool, await liveOf(database.pool, projection), null, await allOf(log, projection), NOW);
    }
  };
  const rows = () => Promise.all(ours.map((projection) => dump(database.pool, projection)));

  it('holds what was said last, and nothing where nobody said anything', async () => {
    await project();
    const read = createReadModel(database.pool);
    const lines = new Map([['6201501', [line('010201'), line('010301')]]]);
    expect(await read.catalogLines(['6201501', '6202300'])).toEqual(lines);
    expect(await read.catalogLines('all')).toEqual(lines);
    expect(await read.catalogLines([])).toEqual(new Map());
    expect(await read.municipalityDemands('3304557')).toEqual({ requiresCustomer: true });
    expect(await read.municipalityDemands('3550308')).toBeUndefined();
    expect(await read.registryEntry('98765432000198')).toBeUndefined();
    expect((await read.registryEntry(CNPJ))?.legalName).toMatch(/^sealed:/);
  });

  it('is read in a statement each for the readers of one turn', async () => {
    await project();
    const read = createReadModel(database.pool);
    const taken = vi.spyOn(database.pool, 'connect');
    const lines = new Map([['6201501', [line('010201'), line('010301')]]]);
    const asked = [['6202300', '6201501'], ['6201501'], ['6202300']];
    expect(await Promise.all(asked.map(read.catalogLines))).toEqual([lines, lines, new Map()]);
    const demands = await Promise.all(['3550308', '3304557', '3304557'].map(read.municipalityDemands));
    expect(demands).toEqual([undefined, { requiresCustomer: true }, { requiresCustomer: true }]);
    const entries = await Promise.all([CNPJ, '98765432000198'].map(read.registryEntry));
    expect(entries.map((entry) => entry?.legalName)).toEqual([expect.stringMatching(/^sealed:/), undefined]);
    expect(taken).toHaveBeenCalledTimes(3);
    taken.mockRestore();
  });

  it('is the same whether a command applied the stream or the projector did, in any order', async () => {
    for (const stream of [catalogStream('6201501'), municipalityStream('3304557'), registryStream(CNPJ)]) {
      await applyStreamNow(database.pool, operatorProjections, await log.read(stream));
    }
    const applied = await rows();
    await project();
    expect(await rows()).toEqual(applied);
    expect(applied.flat()).toHaveLength(3);
  });

  it('tells which invoice holds an access key', async () => {
    const stream = streamOf('live', 1);
    await appendEvents(log, stream, [accepted('live', 1), attempted(1, 5), authorized(1, 6)]);
    await applyBatch(database.pool, await liveOf(database.pool, invoices), null, await allOf(log, invoices), NOW);
    const read = createReadModel(database.pool);
    const accessKey = '1'.repeat(50);
    expect(await read.byAccessKeys([accessKey, '2'.repeat(50)])).toEqual([{ accessKey, stream }]);
    expect(await read.byAccessKeys([])).toEqual([]);
  });
});
