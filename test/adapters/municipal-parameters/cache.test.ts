import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createParametersCache } from '../../../src/adapters/municipal-parameters/cache.js';
import type { KnownParameters } from '../../../src/domain/municipality/parameters.js';
import type { ParametersCache, ParametersEntry } from '../../../src/ports/municipal-parameters.js';
import { at, T0 } from '../../support/fixture/invoice.js';
import { describeWithPostgres, type FreshDatabase, freshDatabase } from '../../support/postgres.js';

const RIO = '3304557';
const CURITIBA = '4106902';
const ACTIVE: KnownParameters = { kind: 'convenio', isActive: true, nationalEmitter: true };

describeWithPostgres('the cache of municipal parameters', () => {
  let database: FreshDatabase;
  let cache: ParametersCache;
  beforeAll(async () => {
    database = await freshDatabase();
    cache = createParametersCache(database.pool);
  });
  afterAll(() => database.close());
  const everything = async () => {
    const groups: (readonly ParametersEntry[])[] = [];
    for await (const group of cache.all()) groups.push(group);
    return groups;
  };

  it('keeps the last answer of each question, each environment apart', async () => {
    await cache.keep('test', RIO, {
      questionKey: 'convenio',
      known: { kind: 'convenio', isActive: false },
      knownAt: T0,
    });
    await cache.keep('test', RIO, { questionKey: 'convenio', known: ACTIVE, knownAt: at(60) });
    expect(await cache.of('test', RIO)).toEqual([{ questionKey: 'convenio', known: ACTIVE, knownAt: at(60) }]);
    expect(await cache.of('live', RIO)).toEqual([]);
  });

  it('reads the municipalities of one turn in a statement for each environment', async () => {
    const known: KnownParameters = { kind: 'convenio', isActive: false };
    await cache.keep('live', CURITIBA, { questionKey: 'convenio', known, knownAt: T0 });
    const taken = vi.spyOn(database.pool, 'connect');
    const asked = [RIO, CURITIBA, '3550308'];
    const inTest = asked.map((ibge) => cache.of('test', ibge));
    const [live, test] = await Promise.all([
      Promise.all(asked.map((ibge) => cache.of('live', ibge))),
      Promise.all(inTest),
    ]);
    expect(live).toEqual([[], [{ questionKey: 'convenio', known, knownAt: T0 }], []]);
    expect(test.map((answers) => answers.length)).toEqual([1, 0, 0]);
    expect(taken).toHaveBeenCalledTimes(2);
    taken.mockRestore();
    await cache.keepOnly('live', []);
  });

  it('counts what was not answered beside what is kept, until it is answered', async () => {
    await cache.noteFailure('test', RIO, 'convenio', 'http_429', at(70));
    await cache.noteFailure('test', RIO, 'convenio', 'timeout', at(80));
    await cache.noteFailure('live', RIO, 'convenio', 'no_json', at(80));
    expect(await cache.entriesOf(RIO)).toEqual([
      { mode: 'live', ibge: RIO, questionKey: 'convenio', askedAt: at(80), failures: 1, reason: 'no_json' },
      {
        mode: 'test',
        ibge: RIO,
        questionKey: 'convenio',
        known: ACTIVE,
        knownAt: at(60),
        askedAt: at(80),
        failures: 2,
        reason: 'timeout',
      },
    ]);
    expect(await cache.of('live', RIO)).toEqual([]);
    await cache.keep('test', RIO, { questionKey: 'convenio', known: ACTIVE, knownAt: at(90) });
    expect(await cache.entriesOf(RIO)).toContainEqual({
      mode: 'test',
      ibge: RIO,
      questionKey: 'convenio',
      known: ACTIVE,
      knownAt: at(90),
      askedAt: at(90),
      failures: 0,
    });
  });

  it('notes a question that a request needs, beside entries that stay as they are', async () => {
    const before = await cache.entriesOf(RIO);
    await cache.noteNeed('test', RIO, 'convenio', at(95));
    expect(await cache.entriesOf(RIO)).toEqual(before);
    const needed = { mode: 'test', ibge: RIO, questionKey: 'aliquota/01.02.01.000' } as const;
    await cache.noteNeed(needed.mode, needed.ibge, needed.questionKey, at(95));
    await cache.noteNeed(needed.mode, needed.ibge, needed.questionKey, at(96));
    expect(await cache.entriesOf(RIO)).toContainEqual({ ...needed, askedAt: at(95), failures: 0 });
    expect(await cache.of('test', RIO)).toHaveLength(1);
  });

  it('makes the answers about one service due, once, and no answer that is younger than an hour', async () => {
    const known: KnownParameters = { kind: 'aliquota', rates: [] };
    const keep = (service: string, knownAt: string) =>
      cache.keep('live', CURITIBA, { questionKey: `aliquota/${service}`, known, knownAt });
    for (const [service, seconds] of [
      ['01.07.01.000', 0],
      ['01.07.01.002', 10],
      ['01.07.02.000', 0],
    ] as const)
      await keep(service, at(seconds));
    const askedAgain = async () =>
      (await cache.entriesOf(CURITIBA)).flatMap(({ questionKey, knownAt, askedAt }) =>
        askedAt === knownAt ? [] : [`${questionKey} ${askedAt}`],
      );
    await cache.askAgain('test', CURITIBA, '01.07.01.000', at(7_200));
    await cache.askAgain('live', CURITIBA, '01.07.01.000', at(3_605));
    expect(await askedAgain()).toEqual([`aliquota/01.07.01.000 ${at(3_605)}`]);
    await cache.askAgain('live', CURITIBA, '01.07.01.002', at(3_700));
    const both = [`aliquota/01.07.01.000 ${at(3_605)}`, `aliquota/01.07.01.002 ${at(3_700)}`];
    expect(await askedAgain()).toEqual(both);
    await cache.noteFailure('live', CURITIBA, 'aliquota/01.07.01.000', 'timeout', at(3_800));
    await cache.askAgain('live', CURITIBA, '01.07.01.000', at(9_000));
    expect(await askedAgain()).toEqual([`aliquota/01.07.01.000 ${at(3_800)}`, both[1]]);
    await cache.keepOnly('live', [RIO]);
  });

  it('forgets the municipalities of a mode that are not named', async () => {
    await cache.keep('test', CURITIBA, { questionKey: 'convenio', known: ACTIVE, knownAt: T0 });
    await cache.keepOnly('test', [CURITIBA]);
    const places = async () => (await everything()).flat().map(({ mode, ibge }) => `${mode} ${ibge}`);
    expect((await places()).toSorted()).toEqual([`live ${RIO}`, `test ${CURITIBA}`]);
    await cache.keepOnly('test', []);
    await cache.keepOnly('live', []);
    expect(await everything()).toEqual([]);
  });

  it('hands out the entries of one municipality and mode at a time, however many there are', async () => {
    await database.pool.query(
      `insert into municipal_parameters (mode, ibge, place, asked_at)
       select mode, ibge::text, 'aliquota/' || line, $1
       from unnest(array['live', 'test']) as mode, generate_series(1000001, 1000003) as ibge, generate_series(1, 700) as line`,
      [T0],
    );
    await cache.keep('test', '1000002', { questionKey: 'convenio', known: ACTIVE, knownAt: T0 });
    const groups = await everything();
    expect(groups.map((group) => `${group[0]?.ibge} ${group[0]?.mode} ${group.length}`)).toEqual([
      ...['1000001 live 700', '1000001 test 700', '1000002 live 700', '1000002 test 701'],
      ...['1000003 live 700', '1000003 test 700'],
    ]);
    for (const group of groups) expect(new Set(group.map(({ mode, ibge }) => `${mode} ${ibge}`)).size).toBe(1);
    expect(new Set(groups.flat().map(({ mode, ibge, questionKey }) => `${mode} ${ibge} ${questionKey}`)).size).toBe(
      4_201,
    );
    expect(await cache.convenios()).toEqual(await cache.entriesOf('1000002').then((all) => all.slice(-1)));
  });
});
