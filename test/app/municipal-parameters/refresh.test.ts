import { afterEach, describe, expect, it } from 'vitest';
import { nextQuestionOf } from '../../../src/app/municipal-parameters/questions.js';
import { createRefresher } from '../../../src/app/municipal-parameters/refresh.js';
import { type Wanted, wantedOf } from '../../../src/app/municipal-parameters/wanted.js';
import type { CompanyId, Mode } from '../../../src/domain/common/ids.js';
import { brasiliaDate } from '../../../src/domain/common/time.js';
import { type KnownParameters, REFRESH_SECONDS } from '../../../src/domain/municipality/parameters.js';
import type { CertificateRefusal } from '../../../src/ports/certificate-refusals.js';
import type { ParametersAnswer, ParametersCache, ParametersEntry } from '../../../src/ports/municipal-parameters.js';
import { catalogue, DEMO_CNPJ, demoCompany } from '../../support/fixture/demo.js';
import { at, T0 } from '../../support/fixture/invoice.js';
import { movableClock } from '../../support/harness/event-store.js';

const RIO = '3304557';
const CURITIBA = '4106902';
const SERVICE = '01.01.01.000';

const wanted = (
  ibge: string,
  services: readonly string[] = [],
  mode: Mode = 'test',
  otherServices: readonly string[] = [],
): Wanted => ({
  ...{ mode, ibge, services, otherServices },
  companies: [DEMO_CNPJ],
});

/** The cache in memory, as the port describes it. */
const memoryCache = (): ParametersCache & { entries: ParametersEntry[]; readings: number } => {
  const cache = {
    entries: [] as ParametersEntry[],
    of: async (mode: Mode, ibge: string) =>
      cache.entries.flatMap(({ known, knownAt, questionKey, ...entry }) =>
        entry.mode === mode && entry.ibge === ibge && known !== undefined && knownAt !== undefined
          ? [{ questionKey, known, knownAt }]
          : [],
      ),
    entriesOf: async (ibge: string) => cache.entries.filter((entry) => entry.ibge === ibge),
    /** How often all entries were read. */
    readings: 0,
    all: async function* () {
      cache.readings += 1;
      const keys = new Set(cache.entries.map(({ mode, ibge }) => `${mode}/${ibge}`));
      for (const key of keys) yield cache.entries.filter(({ mode, ibge }) => `${mode}/${ibge}` === key);
    },
    convenios: async () => cache.entries.filter(({ questionKey }) => questionKey === 'convenio'),
    keep: async (
      mode: Mode,
      ibge: string,
      { questionKey, known, knownAt }: { questionKey: string; known: KnownParameters; knownAt: string },
    ) => put({ mode, ibge, questionKey, known, knownAt, askedAt: knownAt, failures: 0 }),
    noteFailure: async (mode: Mode, ibge: string, questionKey: string, reason: string, askedAt: string) => {
      const before = cache.entries.find((entry) => isAt(entry, mode, ibge, questionKey));
      put({ ...before, mode, ibge, questionKey, askedAt, reason, failures: (before?.failures ?? 0) + 1 });
    },
    noteNeed: async (mode: Mode, ibge: string, questionKey: string, askedAt: string) => {
      if (!cache.entries.some((entry) => isAt(entry, mode, ibge, questionKey)))
        put({ mode, ibge, questionKey, askedAt, failures: 0 });
    },
    askAgain: async (mode: Mode, ibge: string, service: string, askedAt: string) => {
      for (const entry of cache.entries.filter((one) => isAt(one, mode, ibge, `aliquota/${service}`)))
        put({ ...entry, askedAt });
    },
    keepOnly: async (mode: Mode, ibges: readonly string[]) => {
      cache.entries = cache.entries.filter((entry) => entry.mode !== mode || ibges.includes(entry.ibge));
    },
  };
  const put = (entry: ParametersEntry): void => {
    cache.entries = [...cache.entries.filter((one) => !isAt(one, entry.mode, entry.ibge, entry.questionKey)), entry];
  };
  return cache;
};

const isAt = (entry: ParametersEntry, mode: Mode, ibge: string, questionKey: string): boolean =>
  entry.mode === mode && entry.ibge === ibge && entry.questionKey === questionKey;

const ACTIVE: KnownParameters = { kind: 'convenio', isActive: true, nationalEmitter: true };

const createHarness = (companies: readonly Wanted[]) => {
  const clock = movableClock(T0);
  const cache = memoryCache();
  const asked: string[] = [];
  const seen: string[] = [];
  const askers: CompanyId[] = [];
  const state = {
    ...{ companies, answer: { kind: 'known', known: ACTIVE } as ParametersAnswer, answersAfterSeconds: 0 },
    /** Answers that a company gets in place of `answer`. */
    answersOf: {} as Record<CompanyId, ParametersAnswer>,
  };
  const stopping = new AbortController();
  const refreshOne = createRefresher({
    ...{ cache, clock, modes: ['test', 'live'], signal: stopping.signal },
    api: {
      ask: async ({ mode, companyId }, ibge, question, competence) => {
        askers.push(companyId);
        asked.push([mode, ibge, ...Object.values(question), competence].join(' '));
        clock.pass(state.answersAfterSeconds);
        return state.answersOf[companyId] ?? state.answer;
      },
    },
    wanted: async () => state.companies,
    onAnswer: (mode, outcome, reason) => void seen.push([mode, outcome, reason].join(' ')),
  });
  const firstLead = new AbortController();
  const refresh = (lead = firstLead.signal) => refreshOne(lead);
  /** Refreshes until nothing is due, at most a fixed number of times. */
  const refreshAll = async (): Promise<void> => {
    for (let n = 0; (await refresh()) === 'asked'; n += 1) if (n > 100) throw new Error('it never ends');
  };
  return { ...{ clock, cache, asked, askers, seen, state, firstLead, stopping, refresh, refreshAll } };
};

describe('refreshing the municipal parameters', () => {
  it('asks the convênio of every municipality before any rate, then each question once', async () => {
    const { asked, refresh } = createHarness([wanted(RIO, [SERVICE]), wanted(CURITIBA)]);
    for (let n = 0; n < 6; n += 1) expect(await refresh()).toBe('asked');
    expect(await refresh()).toBe('nothing due');
    expect(asked.slice(0, 2)).toEqual([`test ${RIO} convenio 2026-11-21`, `test ${CURITIBA} convenio 2026-11-21`]);
    expect([...asked].sort()).toEqual(
      [
        `test ${RIO} aliquota ${SERVICE} 2026-11-21`,
        `test ${RIO} convenio 2026-11-21`,
        `test ${RIO} regimes_especiais ${SERVICE} 2026-11-21`,
        `test ${RIO} retencoes 2026-11-21`,
        `test ${CURITIBA} convenio 2026-11-21`,
        `test ${CURITIBA} retencoes 2026-11-21`,
      ].sort(),
    );
  });

  it('asks once more about a service of which a refusal has contradicted the answer', async () => {
    const { asked, cache, clock, refreshAll } = createHarness([wanted(RIO, [SERVICE])]);
    await refreshAll();
    clock.pass(3_600);
    await cache.askAgain('test', RIO, SERVICE, clock.now());
    asked.length = 0;
    await refreshAll();
    expect(asked).toEqual([`test ${RIO} aliquota ${SERVICE} 2026-11-21`]);
  });

  it('asks for municipal codes where the national code is not administered, until five in a row have no rate', async () => {
    const { asked, cache, clock, refreshAll, state } = createHarness([wanted(RIO, [SERVICE])]);
    state.answer = { kind: 'known', known: { kind: 'aliquota', rates: [] } };
    await refreshAll();
    const codes = () => asked.filter((one) => one.includes('aliquota')).map((one) => one.split(' ')[3]?.slice(-3));
    expect(codes()).toEqual(['000', '001', '002', '003', '004', '005']);
    const rates = [{ percent: '5.00', from: '2023-01-01' }];
    const known = { kind: 'aliquota' as const, rates };
    await cache.keep('test', RIO, { questionKey: 'aliquota/01.01.01.003', known, knownAt: clock.now() });
    await refreshAll();
    expect(codes().slice(6)).toEqual(['006', '007', '008']);
  });

  it('asks for the rates of other lines after everything of the default lines, and ends the codes of a service before it begins another', async () => {
    const others = ['02.01.01.000', '02.02.01.000'];
    const { asked, refreshAll, state } = createHarness([wanted(RIO, [SERVICE], 'test', others), wanted(CURITIBA)]);
    state.answer = { kind: 'known', known: { kind: 'aliquota', rates: [] } };
    await refreshAll();
    const inOrder = asked.map((one) => one.split(' ').slice(1, 4).join(' '));
    const first = inOrder.findIndex((one) => one.includes(' 02.'));
    expect(inOrder.slice(0, first)).toContain(`${RIO} regimes_especiais ${SERVICE}`);
    expect(inOrder.slice(0, first)).toContain(`${RIO} aliquota 01.01.01.005`);
    expect(inOrder.slice(first)).toEqual(
      ['02.01.01', '02.02.01'].flatMap((service) =>
        ['000', '001', '002', '003', '004', '005'].map((code) => `${RIO} aliquota ${service}.${code}`),
      ),
    );
  });

  it('asks for the line that a request needs before the other lines that are no default', async () => {
    const others = ['02.01.01.000', '02.02.01.000', '02.03.01.000'];
    const { asked, cache, refreshAll } = createHarness([wanted(RIO, [SERVICE], 'test', others)]);
    await cache.noteNeed('test', RIO, 'aliquota/02.03.01.000', T0);
    await refreshAll();
    const lines = asked.flatMap((one) => / aliquota (\S+) /.exec(one)?.slice(1) ?? []);
    expect(lines).toEqual([SERVICE, '02.03.01.000', '02.01.01.000', '02.02.01.000']);
  });

  it('asks for the rates of other lines again after three days', async () => {
    const OTHER = '02.01.01.000';
    const { asked, clock, refreshAll } = createHarness([wanted(RIO, [], 'test', [OTHER])]);
    const timesAsked = () => asked.filter((one) => one.includes(OTHER)).length;
    await refreshAll();
    for (let day = 1; day <= 2; day += 1) {
      clock.pass(REFRESH_SECONDS);
      await refreshAll();
    }
    expect(timesAsked()).toBe(1);
    clock.pass(REFRESH_SECONDS);
    await refreshAll();
    expect(timesAsked()).toBe(2);
  });

  it('asks again after a day, the two environments apart', async () => {
    const { asked, clock, refresh, refreshAll } = createHarness([wanted(RIO), wanted(RIO, [], 'live')]);
    await refreshAll();
    expect(asked.filter((one) => one.includes('convenio'))).toHaveLength(2);
    clock.pass(REFRESH_SECONDS - 1);
    expect(await refresh()).toBe('nothing due');
    clock.pass(1);
    expect(await refresh()).toBe('asked');
    expect(asked.at(-1)).toBe(`test ${RIO} convenio 2026-11-22`);
  });

  it('asks again at once after a failure that a clock ahead of this one has noted', async () => {
    const { cache, refresh } = createHarness([wanted(RIO)]);
    await cache.noteFailure('test', RIO, 'convenio', 'timeout', at(10_800));
    await cache.noteFailure('test', RIO, 'retencoes', 'timeout', at(0));
    expect(await refresh()).toBe('asked');
    expect(await refresh()).toBe('nothing due');
  });

  it('asks again on the first day after the end of a rate, once', async () => {
    const { asked, cache, clock, refresh, refreshAll } = createHarness([wanted(RIO, [SERVICE])]);
    await refreshAll();
    const known = {
      kind: 'aliquota' as const,
      rates: [{ percent: '5.00', from: '2023-01-01', until: brasiliaDate(clock.now()) }],
    };
    await cache.keep('test', RIO, { questionKey: 'aliquota/01.01.01.000', known, knownAt: clock.now() });
    expect(await refresh()).toBe('nothing due');
    const before = asked.length;
    clock.pass(REFRESH_SECONDS - 1);
    await refreshAll();
    expect(asked.slice(before).filter((one) => one.includes(`aliquota ${SERVICE}`))).toHaveLength(1);
  });

  it('keeps an answer as of its question, so that one after midnight is not of the new day', async () => {
    const { cache, refresh, state } = createHarness([wanted(RIO)]);
    state.answersAfterSeconds = 86_400;
    await refresh();
    expect(await cache.of('test', RIO)).toMatchObject([{ questionKey: 'convenio', knownAt: T0 }]);
  });

  it('keeps the last answer when a new one proves nothing, and asks again after growing pauses', async () => {
    const { cache, clock, refresh, refreshAll, seen, state } = createHarness([wanted(RIO)]);
    await refreshAll();
    clock.pass(REFRESH_SECONDS);
    state.answer = { kind: 'no_proof', reason: 'http_429' };
    await refreshAll();
    expect(await cache.of('test', RIO)).toEqual([
      { questionKey: 'convenio', known: ACTIVE, knownAt: T0 },
      { questionKey: 'retencoes', known: ACTIVE, knownAt: T0 },
    ]);
    expect(seen.at(-1)).toBe('test no_proof http_429');
    const pauses: number[] = [];
    for (let passed = 0; pauses.length < 4 && passed < 10_000; passed += 30) {
      if ((await refresh()) === 'asked') {
        pauses.push(passed);
        await refresh();
      }
      clock.pass(30);
    }
    expect(pauses).toEqual([60, 180, 420, 900]);
  });

  describe('with several companies in a municipality', () => {
    const BAD = '00000000000191';
    const REFUSED: ParametersAnswer = { kind: 'no_proof', reason: 'certificate_missing', mayLieWithCertificate: true };
    const both = (): Wanted => ({ ...wanted(RIO, [SERVICE]), companies: [BAD, DEMO_CNPJ] });

    it('asks with the next one after a fault of a certificate, from then on', async () => {
      const { askers, asked, cache, clock, refreshAll, state } = createHarness([both()]);
      state.answersOf[BAD] = REFUSED;
      await refreshAll();
      expect(askers).toEqual([BAD, DEMO_CNPJ, DEMO_CNPJ, DEMO_CNPJ]);
      clock.pass(60);
      await refreshAll();
      expect(asked.at(-1)).toContain('convenio');
      expect((await cache.of('test', RIO)).map(({ questionKey }) => questionKey)).toContain('convenio');
      expect(askers.filter((one) => one === BAD)).toHaveLength(1);
    });

    it('asks with the one whose fault is oldest when each certificate was at fault, and forgets a fault after an answer', async () => {
      const { askers, clock, refresh, state } = createHarness([both()]);
      const { answersOf } = state;
      answersOf[BAD] = REFUSED;
      answersOf[DEMO_CNPJ] = REFUSED;
      for (let n = 0; n < 4; n += 1) {
        await refresh();
        clock.pass(1);
      }
      expect(askers).toEqual([BAD, DEMO_CNPJ, BAD, DEMO_CNPJ]);
      delete answersOf[BAD];
      clock.pass(3_600);
      await refresh();
      await refresh();
      expect(askers.slice(4)).toEqual([BAD, BAD]);
    });

    it('stays with a company after a failure that is not of its certificate', async () => {
      const { askers, refreshAll, state } = createHarness([both()]);
      state.answer = { kind: 'no_proof', reason: 'http_503' };
      await refreshAll();
      expect(new Set(askers)).toEqual(new Set([BAD]));
    });
  });

  it('forgets the municipalities in which no company is any more', async () => {
    const { cache, refresh, refreshAll, state } = createHarness([wanted(RIO), wanted(CURITIBA)]);
    await refreshAll();
    state.companies = [wanted(CURITIBA)];
    expect(await refresh()).toBe('nothing due');
    expect(new Set(cache.entries.map(({ ibge }) => ibge))).toEqual(new Set([CURITIBA]));
  });

  it('asks first what was never answered, then what is oldest', () => {
    const entry = (ibge: string, knownAt: string | undefined): ParametersEntry => ({
      ...{ mode: 'test', ibge, questionKey: 'convenio', askedAt: T0, failures: 0 },
      ...(knownAt === undefined ? {} : { known: ACTIVE, knownAt }),
    });
    const now = at(3 * REFRESH_SECONDS);
    const rankOf = (one: ParametersEntry) =>
      nextQuestionOf(wanted(one.ibge), [one, retencoesOf(one.ibge)], now)?.rank ?? '';
    const retencoesOf = (ibge: string): ParametersEntry => ({ ...entry(ibge, now), questionKey: 'retencoes' });
    expect(rankOf(entry(CURITIBA, undefined)) < rankOf(entry(RIO, T0))).toBe(true);
    expect(rankOf(entry(CURITIBA, T0)) < rankOf(entry(RIO, at(9)))).toBe(true);
  });

  describe('of many municipalities', () => {
    /** 500 with 20 other lines each: their reading serves 11 seconds. */
    const many = Array.from({ length: 500 }, (_, n) =>
      wanted(
        `${1_000_000 + n}`,
        [SERVICE],
        'test',
        Array.from({ length: 21 }, (_, line) => `02.${10 + line}.01.000`),
      ),
    );

    it('reads the whole cache once for the questions of the next seconds, in the same order', async () => {
      const { asked, cache, clock, refresh, state } = createHarness(many);
      for (let n = 0; n < 4; n += 1) {
        expect(await refresh()).toBe('asked');
        clock.pass(3);
      }
      expect(cache.readings).toBe(1);
      expect(asked.map((one) => one.split(' ')[1])).toEqual(['1000000', '1000001', '1000002', '1000003']);
      state.companies = [wanted(RIO), ...many];
      clock.pass(3);
      await refresh();
      expect(cache.readings).toBe(2);
      expect(asked.at(-1)).toContain(RIO);
    });

    it('goes on with what an answer makes due, and asks nothing twice', async () => {
      const [first] = many;
      const { asked, cache, clock, refresh, state } = createHarness([...(first === undefined ? [] : [first])]);
      state.answer = { kind: 'known', known: { kind: 'aliquota', rates: [] } };
      state.companies = many;
      for (const { ibge } of many)
        for (const questionKey of ['convenio', 'retencoes', `regimes_especiais/${SERVICE}`])
          await cache.keep('test', ibge, { questionKey, known: ACTIVE, knownAt: T0 });
      for (let n = 1; n < many.length; n += 1)
        await cache.keep('test', `${1_000_000 + n}`, {
          questionKey: `aliquota/${SERVICE}`,
          known: { kind: 'aliquota', rates: [{ percent: '5.00', from: '2023-01-01' }] },
          knownAt: T0,
        });
      for (let n = 0; n < 3; n += 1) {
        await refresh();
        clock.pass(3);
      }
      expect(cache.readings).toBe(1);
      expect(asked.map((one) => one.split(' ')[3]?.slice(-3))).toEqual(['000', '001', '002']);
    });

    it('lets requests have turns of the event loop between the municipalities', async () => {
      const { refresh } = createHarness(Array.from({ length: 10 }, () => many).flat());
      let turns = 0;
      const turn = (): void => {
        turns += 1;
        next = setImmediate(turn);
      };
      let next = setImmediate(turn);
      await refresh();
      clearImmediate(next);
      expect(turns).toBeGreaterThan(3);
    });

    it('reads again when it leads again, because another process has asked meanwhile', async () => {
      const { cache, refresh } = createHarness(many);
      await refresh();
      await refresh(new AbortController().signal);
      expect(cache.readings).toBe(2);
    });

    it.each(['firstLead', 'stopping'] as const)(
      'asks nothing more once its lead or the process ends (%s)',
      async (what) => {
        const harness = createHarness(many);
        await harness.refresh();
        harness[what].abort();
        expect(await harness.refresh()).toBe('nothing due');
        expect(harness.asked).toHaveLength(1);
      },
    );
  });
});

describe('what is wanted to be known', () => {
  const named = (changes: object = {}) => ({
    companyId: DEMO_CNPJ,
    company: { ...demoCompany(DEMO_CNPJ), ...changes },
  });
  const refusals: CertificateRefusal[] = [];
  afterEach(() => {
    refusals.length = 0;
  });
  const wantedBy = (...companies: ReturnType<typeof named>[]) =>
    wantedOf(
      {
        refusals: async () => refusals,
        companies: async () => companies,
        ibgeOf: (city) => (city === 'Rio de Janeiro' ? RIO : undefined),
        catalogueOf: async () => catalogue,
        modes: ['live', 'test'],
      },
      T0,
    );

  it('is the municipality of each enabled company, in both environments, with the services of its default lines', async () => {
    const all = await wantedBy(named(), named());
    expect(all.map(({ mode, ibge }) => `${mode} ${ibge}`)).toEqual([`live ${RIO}`, `test ${RIO}`]);
    expect(all[0]?.services.length).toBeGreaterThan(0);
    for (const service of all[0]?.services ?? []) expect(service).toMatch(/^\d\d\.\d\d\.\d\d\.\d{3}$/);
  });

  it('is also each other line that a request of a company may name, but for blocked ones and those that are a default there', async () => {
    const line = (cnae: string, serviceCode: string, changes: object = {}) => ({
      ...{ cnae, serviceCode, nbs: '115013000', description: 'x', isDefault: false, isBlocked: false },
      ...changes,
    });
    const lines = [
      line('6201501', '010101', { isDefault: true }),
      line('6201501', '010201'),
      line('6201501', '010301', { isBlocked: true }),
      line('6204000', '010401', { isDefault: true }),
      line('6204000', '010101'),
      line('6204000', '010501'),
    ];
    const { registration } = demoCompany(DEMO_CNPJ);
    const activities = [
      { cnae: '6201501', isMain: true },
      { cnae: '6204000', isMain: false },
    ];
    const municipalCodes = [{ serviceCode: '010501', municipalCode: '002' }];
    const [live] = await wantedOf(
      {
        refusals: async () => [],
        companies: async () => [named({ registration: { ...registration, activities, municipalCodes } })],
        ibgeOf: () => RIO,
        catalogueOf: async () => ({ ...catalogue, linesOf: (cnae) => lines.filter((one) => one.cnae === cnae) }),
        modes: ['live'],
      },
      T0,
    );
    expect(live).toMatchObject({
      services: ['01.01.01.000', '01.04.01.000'],
      otherServices: ['01.02.01.000', '01.05.01.000', '01.05.01.002'],
    });
  });

  const refusal = (companyId: CompanyId, certificateId: string): CertificateRefusal => ({
    ...{ mode: 'live', companyId, certificateId, reason: 'no_json 403', seen: 1 },
    ...{ since: T0, lastAt: T0, probeAt: T0 },
  });
  const certificateId = demoCompany(DEMO_CNPJ).certificate?.certificateId ?? '';
  const other = { ...named(), companyId: '11222333000181' };
  const askersOf = async (...companies: ReturnType<typeof named>[]) =>
    (await wantedBy(...companies)).map(({ mode, companies: asking }) => [mode, ...asking]);

  it('is asked for with every company there, but for those whose certificate the authorizer of the mode refuses', async () => {
    refusals.push(refusal(DEMO_CNPJ, certificateId));
    expect(await askersOf(named(), other)).toEqual([
      ['live', other.companyId],
      ['test', DEMO_CNPJ, other.companyId],
    ]);
  });

  it('is asked for with all of them when each is refused, and with a certificate that was stored since', async () => {
    refusals.push(refusal(DEMO_CNPJ, certificateId));
    expect(await askersOf(named())).toEqual([
      ['live', DEMO_CNPJ],
      ['test', DEMO_CNPJ],
    ]);
    refusals[0] = refusal(DEMO_CNPJ, 'an earlier one');
    expect((await askersOf(named(), other))[0]).toEqual(['live', DEMO_CNPJ, other.companyId]);
  });

  it('leaves out who cannot ask: disabled, without a certificate that is valid now and usable, or in no known city', async () => {
    const { certificate } = demoCompany(DEMO_CNPJ);
    const { registration } = demoCompany(DEMO_CNPJ);
    expect(
      await wantedBy(
        named({ enabled: false }),
        named({ certificate: undefined }),
        named({ certificate: { ...certificate, notAfter: T0 } }),
        named({ certificate: { ...certificate, notBefore: at(1) } }),
        named({ certificate: { ...certificate, unusable: 'key_broken' } }),
        named({ registration: { ...registration, city: 'Atlântida' } }),
      ),
    ).toEqual([]);
  });
});
