import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CatalogueLine } from '../../../src/domain/catalog/events.js';
import type { Mode } from '../../../src/domain/common/ids.js';
import type { Catalogue } from '../../../src/domain/company/line-selection.js';
import { issueBodyOf, catalogue as tables } from '../../support/fixture/demo.js';
import { createHarness, type Harness } from '../../support/harness/http.js';

type Activity = { cnae: string; service_code: string; description: string; is_main: boolean; is_default: boolean };

const CNAES = ['6201501', '6202300', '6203100', '9602501'];
const CODES = ['010101', '010201', '140101'];
const OFFICIAL_NBS = '115022000';

const line = fc.record({
  serviceCode: fc.constantFrom(...CODES),
  nbs: fc.constantFrom(OFFICIAL_NBS, OFFICIAL_NBS, '999999999', undefined),
  isDefault: fc.boolean(),
  isBlocked: fc.constantFrom(false, false, true),
});

/** At most one default, as the import of a catalogue demands. */
const linesOf = (cnae: string) =>
  fc.array(line, { maxLength: 4, size: 'max' }).map((drawn): readonly CatalogueLine[] =>
    drawn.map(({ nbs, ...rest }, index) => ({
      ...rest,
      ...(nbs === undefined ? {} : { nbs }),
      cnae,
      description: 'Serviço',
      isDefault: rest.isDefault && !drawn.slice(0, index).some(({ isDefault }) => isDefault),
    })),
  );

/** A second line of one code, with another NBS, is an operator's right; the first one answers for both. */
const oneLinePerCode = (lines: readonly CatalogueLine[]): readonly CatalogueLine[] =>
  lines.filter(({ cnae, serviceCode }, index) => {
    const first = lines.findIndex((other) => other.cnae === cnae && other.serviceCode === serviceCode);
    return first === index;
  });

const catalogues = fc.tuple(...CNAES.map(linesOf)).map((all): Catalogue => {
  const lines = all.flat();
  return {
    linesOf: (cnae) => lines.filter((candidate) => candidate.cnae === cnae),
    isServiceCode: (code) => CODES.includes(code),
    isNbs: (code) => code === OFFICIAL_NBS,
  };
});

/** Any of the activities in any order, one of them the main one. */
const registrations = fc
  .tuple(fc.shuffledSubarray(CNAES, { minLength: 1 }), fc.nat(3))
  .map(([cnaes, main]) => cnaes.map((cnae, index) => ({ cnae, isMain: index === main % cnaes.length })));

const withoutTwins = (catalogue: Catalogue): Catalogue => ({
  ...catalogue,
  linesOf: (cnae) => oneLinePerCode(catalogue.linesOf(cnae)),
});

const situation = fc.record({
  catalogue: catalogues,
  activities: registrations,
  mode: fc.constantFrom<Mode>('test', 'live'),
});

const NO_LIMITS = { rateLimits: { write: 1_000_000, read: 1_000_000 } };

const harnessOf = (catalogue: Catalogue, activities: readonly { cnae: string; isMain: boolean }[]): Harness => {
  const harness = createHarness(NO_LIMITS);
  harness.state.catalogue = catalogue;
  harness.company.registration = { ...harness.company.registration, activities };
  return harness;
};

/** The line used, or undefined when the request was refused. */
const issue = async (harness: Harness, key: Mode, sent: object): Promise<object | undefined> => {
  harness.pass(61);
  const response = await harness.call('/v1/nfse', { key, json: issueBodyOf(sent) });
  if (response.status !== 202) return undefined;
  const { cnae, service_code } = (await response.json()) as Activity;
  return { cnae, service_code };
};

const listed = async ({ call }: Harness, key: Mode): Promise<readonly Activity[]> =>
  ((await (await call('/v1/activities', { key })).json()) as { data: Activity[] }).data;

describe('GET /v1/activities, whatever the company and the catalogue', () => {
  it('every line issues by its cnae and service_code, a default one by its cnae alone too', async () => {
    let lines = 0;
    await fc.assert(
      fc.asyncProperty(situation, async ({ catalogue, activities, mode }) => {
        const harness = harnessOf(catalogue, activities);
        const list = await listed(harness, mode);
        lines += list.length;
        for (const { cnae, service_code, is_default } of list) {
          expect(await issue(harness, mode, { cnae, service_code })).toEqual({ cnae, service_code });
          if (is_default) expect(await issue(harness, mode, { cnae })).toEqual({ cnae, service_code });
        }
      }),
      { numRuns: 100 },
    );
    // 136 on average, with a deviation of 13: fewer come once in a million million runs.
    expect(lines).toBeGreaterThan(40);
  });

  it('what it does not list is not issued: no other pair, no cnae without a listed default, nothing unasked', async () => {
    await fc.assert(
      fc.asyncProperty(situation, async ({ catalogue, activities, mode }) => {
        const harness = harnessOf(withoutTwins(catalogue), activities);
        const list = await listed(harness, mode);
        const pair = ({ cnae, service_code }: Activity) => ({ cnae, service_code });
        const main = activities.find(({ isMain }) => isMain)?.cnae;
        for (const cnae of CNAES) {
          const byDefault = list.filter((one) => one.cnae === cnae && one.is_default).map(pair)[0];
          expect(await issue(harness, mode, { cnae })).toEqual(byDefault);
          if (cnae === main) expect(await issue(harness, mode, {})).toEqual(byDefault);
          for (const service_code of CODES) {
            const exact = list.map(pair).filter((one) => one.cnae === cnae && one.service_code === service_code)[0];
            expect(await issue(harness, mode, { cnae, service_code })).toEqual(exact);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('has the main activity first, each line once, each description with its masked CNAE', async () => {
    await fc.assert(
      fc.asyncProperty(situation, async ({ catalogue, activities, mode }) => {
        const list = await listed(harnessOf(catalogue, activities), mode);
        const main = activities.find(({ isMain }) => isMain)?.cnae;
        expect(list.map(({ is_main }) => is_main)).toEqual(list.map(({ cnae }) => cnae === main));
        expect(list.findLastIndex(({ is_main }) => is_main)).toBe(list.filter(({ is_main }) => is_main).length - 1);
        expect(new Set(list.map(({ cnae, service_code }) => `${cnae}/${service_code}`)).size).toBe(list.length);
        for (const { cnae, description } of list)
          expect(description).toBe(`${cnae.slice(0, 4)}-${cnae.slice(4, 5)}/${cnae.slice(5)} Serviço`);
      }),
      { numRuns: 100 },
    );
  });
});

describe('GET /v1/activities', () => {
  it('test mode leaves out a line whose NBS is not official, live mode lists it', async () => {
    const activities = [{ cnae: '6311900', isMain: true }];
    expect(await listed(harnessOf(tables, activities), 'test')).toEqual([]);
    expect(await listed(harnessOf(tables, activities), 'live')).toMatchObject([{ cnae: '6311900' }]);
  });

  it('the masked CNAE of its descriptions is refused when sent', async () => {
    const { call } = createHarness();
    const [first] = await listed(createHarness(), 'test');
    const [cnae] = (first?.description ?? '').split(' ');
    expect((await call('/v1/nfse', { json: issueBodyOf({ cnae }) })).status).toBe(400);
  });

  it('takes no parameters: any of them is ignored', async () => {
    const { call } = createHarness();
    const all = await (await call('/v1/activities')).json();
    expect(await (await call('/v1/activities?page=2&limit=1&cnae=6202300')).json()).toEqual(all);
  });
});
