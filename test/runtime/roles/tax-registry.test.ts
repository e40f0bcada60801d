import { expect, it } from 'vitest';
import type { RegistryEntry } from '../../../src/ports/tax-registry.js';
import type { Logger } from '../../../src/runtime/config/logger.js';
import { openTaxRegistry, warnOfUnusableAddresses } from '../../../src/runtime/roles/tax-registry.js';
import { DEMO_CNPJ, demoCompany } from '../../support/fixture/demo.js';
import { T0 } from '../../support/fixture/invoice.js';
import { movableClock } from '../../support/harness/event-store.js';

const REGISTRY = 'http://127.0.0.1:1';
const OTHER = '11222333000181';
const address = {
  street: 'Av. Rio Branco',
  number: '123',
  district: 'Centro',
  city: 'Niterói',
  state: 'RJ',
  postalCode: '24020077',
};
type Sources = Parameters<typeof openTaxRegistry>[1];

/** `entry`: what an operator put for any CNPJ. The registry at the address knows every CNPJ, or none. */
const createHarness = (entry: Omit<RegistryEntry, 'cnpj'> | undefined, isKnown = true, told = address) => {
  const reported: (readonly string[])[] = [];
  const asked: string[] = [];
  const sources = {
    readModel: {
      registryEntry: async () => entry,
      company: async (cnpj: string) => (cnpj === DEMO_CNPJ ? demoCompany(DEMO_CNPJ) : undefined),
    },
  } as unknown as Sources;
  const find = async (url: string, cnpj: string) => {
    asked.push(`${url}/${cnpj}`);
    return isKnown ? { cnpj, legalName: 'NAME OF THE REGISTRY LTDA', address: told } : undefined;
  };
  const lookUp = (cnpj: string, isConfigured = true) =>
    openTaxRegistry(
      { taxRegistryUrl: isConfigured ? REGISTRY : undefined },
      sources,
      movableClock(T0),
      (members) => reported.push(members),
      find,
    ).lookup(cnpj);
  return { asked, reported, lookUp };
};

it('asks the address for a company that no operator entered', async () => {
  const { asked, lookUp } = createHarness(undefined);
  expect(await lookUp(OTHER)).toEqual({ cnpj: OTHER, legalName: 'NAME OF THE REGISTRY LTDA', address });
  expect(asked).toEqual([`${REGISTRY}/${OTHER}`]);
});

it('keeps the name of an operator and takes only the address that the entry lacks', async () => {
  const { asked, lookUp } = createHarness({ legalName: 'NAME BY AN OPERATOR LTDA' });
  expect(await lookUp(OTHER)).toEqual({ cnpj: OTHER, legalName: 'NAME BY AN OPERATOR LTDA', address });
  expect(asked).toHaveLength(1);
});

it.each([true, false])(
  'knows nothing of a company because this service has it; with an address: %s',
  async (isConfigured) => {
    const { asked, lookUp } = createHarness(undefined, false);
    expect(await lookUp(DEMO_CNPJ, isConfigured)).toBeUndefined();
    expect(asked).toEqual(isConfigured ? [`${REGISTRY}/${DEMO_CNPJ}`] : []);
  },
);

it('keeps the name when the address is not told, and asks nobody when nothing is missing', async () => {
  const unknown = createHarness({ legalName: 'NAME BY AN OPERATOR LTDA' }, false);
  expect(await unknown.lookUp(OTHER)).toEqual({ cnpj: OTHER, legalName: 'NAME BY AN OPERATOR LTDA' });
  const whole = createHarness({ legalName: 'NAME BY AN OPERATOR LTDA', address });
  expect(await whole.lookUp(OTHER)).toEqual({ cnpj: OTHER, legalName: 'NAME BY AN OPERATOR LTDA', address });
  const alone = createHarness({ legalName: 'NAME BY AN OPERATOR LTDA' });
  expect(await alone.lookUp(OTHER, false)).toEqual({ cnpj: OTHER, legalName: 'NAME BY AN OPERATOR LTDA' });
  expect([...whole.asked, ...alone.asked]).toEqual([]);
});

it('reports an address that no note can carry, such as one in a city that its state does not have', async () => {
  const { reported, lookUp } = createHarness(undefined, true, { ...address, city: 'Cidade Que Não Existe' });
  expect(await lookUp(OTHER)).toMatchObject({ legalName: 'NAME OF THE REGISTRY LTDA' });
  expect(reported).toEqual([[]]);
  const recorded = createHarness({ legalName: 'NAME BY AN OPERATOR LTDA', address: { ...address, city: 'Sao Paolo' } });
  await recorded.lookUp(OTHER);
  expect(recorded.reported).toEqual([[]]);
});

it('logs addresses that are left out once a minute, by the names of their members', () => {
  const warned: unknown[] = [];
  const warn = warnOfUnusableAddresses({ warn: (line: unknown) => warned.push(line) } as unknown as Logger);
  warn(['postal_code']);
  warn(['state']);
  const msg = 'an address of the tax registry is left out: no note can carry it';
  expect(warned).toEqual([{ msg, members: ['postal_code'], unusable: 1 }]);
});
