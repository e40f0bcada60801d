import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { catalogFold, overlaidCatalogue, replaceLines } from '../../../src/domain/catalog/catalog.js';
import { catalogStream, type OperatorLine } from '../../../src/domain/catalog/events.js';
import type { Catalogue } from '../../../src/domain/company/line-selection.js';
import { municipalityFold, setDemands } from '../../../src/domain/municipality/demands.js';
import { type MunicipalityDemands, municipalityStream } from '../../../src/domain/municipality/events.js';
import { putEntry, registryFold } from '../../../src/domain/registry/entry.js';
import { type LocalEntry, registryPersonalFields, registryStream } from '../../../src/domain/registry/events.js';
import { type ApiSwitch, apiSwitchFold, switchApi } from '../../../src/domain/system/api-switch.js';

const AT = '2026-11-21T12:00:00.000Z';

const cnae = fc.constantFrom('6201501', '6202300', '9602501');
const operatorLine = fc.record(
  {
    cnae,
    serviceCode: fc.constantFrom('010101', '010201'),
    nbs: fc.constantFrom('115021000'),
    description: fc.constantFrom('A', 'B'),
    isDefault: fc.boolean(),
    isBlocked: fc.boolean(),
  },
  { requiredKeys: ['cnae', 'serviceCode', 'description', 'isDefault', 'isBlocked'] },
) as fc.Arbitrary<OperatorLine>;
const lines = fc.array(operatorLine, { minLength: 1, maxLength: 4 });

describe('the catalogue', () => {
  it('ends with the lines of the last import, and saying them again is no event', () => {
    fc.assert(
      fc.property(fc.array(lines, { minLength: 1, maxLength: 5 }), (imports) => {
        const state = imports.reduce<readonly OperatorLine[] | undefined>(
          (before, next) => replaceLines(before, '6201501', next, AT).events.reduce(catalogFold.evolve, before),
          undefined,
        );
        expect(state).toEqual(imports.at(-1));
        expect(replaceLines(state, '6201501', imports.at(-1) ?? [], AT).events).toEqual([]);
      }),
    );
  });

  it('takes all lines of a CNAE from the operator, or all from the product', () => {
    fc.assert(
      fc.property(
        fc.dictionary(cnae, lines),
        cnae,
        fc.dictionary(cnae, lines),
        (shippedLines, asked, importedLines) => {
          const shipped: Catalogue = {
            linesOf: (of) => shippedLines[of] ?? [],
            isServiceCode: () => true,
            isNbs: () => true,
          };
          const catalogue = overlaidCatalogue(shipped, new Map(Object.entries(importedLines)));
          expect(catalogue.linesOf(asked)).toEqual(importedLines[asked] ?? shipped.linesOf(asked));
        },
      ),
    );
  });

  it('records which CNAE, with all its lines', () => {
    expect(replaceLines(undefined, '6201501', [], AT).events).toEqual([
      { type: 'CatalogLinesReplaced', data: { cnae: '6201501', lines: [], at: AT } },
    ]);
    expect(catalogStream('6201501')).toBe('catalog-6201501');
  });

  it('counts the first import of the shipped lines as they are', () => {
    expect(replaceLines(undefined, '6201501', [], AT).events).toHaveLength(1);
  });
});

describe('municipal demands', () => {
  const change = fc.record(
    { requiresCustomer: fc.boolean(), requiresRegistration: fc.boolean() },
    { requiredKeys: [] },
  ) as fc.Arbitrary<MunicipalityDemands>;

  it('keep what a change does not name, and each event tells everything', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 6 }), (changes) => {
        let state: MunicipalityDemands = {};
        for (const next of changes) {
          const { events } = setDemands(state, '3304557', next, AT);
          const before = state;
          state = events.reduce(municipalityFold.evolve, before);
          expect(state).toEqual({ ...before, ...next });
          expect(events.reduce(municipalityFold.evolve, {})).toEqual(events.length === 0 ? {} : state);
          expect(setDemands(state, '3304557', next, AT).events).toEqual([]);
        }
      }),
    );
  });
});

describe('a municipal demand', () => {
  it('is recorded with those said before', () => {
    expect(setDemands({ requiresCustomer: true }, '3304557', { requiresRegistration: false }, AT).events).toEqual([
      {
        type: 'MunicipalityDemandsSet',
        data: { ibge: '3304557', requiresCustomer: true, requiresRegistration: false, at: AT },
      },
    ]);
    expect(municipalityStream('3304557')).toBe('municipality-3304557');
  });
});

describe('the local registry', () => {
  it('records the entry under its CNPJ, and seals what names a person', () => {
    expect(putEntry(undefined, '11222333000181', { legalName: 'A LTDA' }, AT).events).toEqual([
      { type: 'RegistryEntryPut', data: { cnpj: '11222333000181', legalName: 'A LTDA', at: AT } },
    ]);
    expect(registryPersonalFields).toEqual({ RegistryEntryPut: ['legalName', 'address'] });
    expect(registryStream('11222333000181')).toBe('registry-11222333000181');
  });

  it('has no address at all where none is given', () => {
    const [put] = putEntry(undefined, '11222333000181', { legalName: 'A LTDA' }, AT).events;
    expect(put && registryFold.evolve(undefined, put)).toStrictEqual({ legalName: 'A LTDA' });
  });

  it('can be entered again when the key of its name is gone, which then is left out of the event', () => {
    const closed = registryFold.evolve(undefined, {
      type: 'RegistryEntryPut',
      data: { cnpj: '11222333000181', at: AT } as never,
    });
    expect(putEntry(closed, '11222333000181', { legalName: 'A LTDA' }, AT).events).toHaveLength(1);
  });

  it('forgets an address that is no longer given', () => {
    const address = { street: 'A', number: '1', district: 'C', city: 'Rio', state: 'RJ', postalCode: '20040030' };
    const put = (state: LocalEntry | undefined, entry: LocalEntry) =>
      putEntry(state, '11222333000181', entry, AT).events.reduce<LocalEntry | undefined>(registryFold.evolve, state);
    const first = put(undefined, { legalName: 'A LTDA', address });
    expect(first).toEqual({ legalName: 'A LTDA', address });
    expect(putEntry(first, '11222333000181', { address, legalName: 'A LTDA' }, AT).events).toEqual([]);
    expect(put(first, { legalName: 'A LTDA' })).toEqual({ legalName: 'A LTDA' });
  });
});

describe('the kill switch', () => {
  it('stands where it was last put, with an event for each real change', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom<ApiSwitch>('on', 'off')), (wishes) => {
        let state: ApiSwitch = 'on';
        for (const to of wishes) {
          const { events } = switchApi(state, to, undefined, AT);
          expect(events.length).toBe(state === to ? 0 : 1);
          state = events.reduce<ApiSwitch>(apiSwitchFold.evolve, state);
          expect(state).toBe(to);
        }
      }),
    );
  });

  it('records when it goes on again, and a stop without a reason', () => {
    expect(switchApi('off', 'on', 'fim', AT).events).toEqual([{ type: 'ApiSwitchedOn', data: { at: AT } }]);
    expect(switchApi('on', 'off', undefined, AT).events).toStrictEqual([{ type: 'ApiSwitchedOff', data: { at: AT } }]);
  });

  it('keeps the reason of a stop', () => {
    expect(switchApi('on', 'off', 'manutenção', AT).events).toEqual([
      { type: 'ApiSwitchedOff', data: { reason: 'manutenção', at: AT } },
    ]);
  });
});
