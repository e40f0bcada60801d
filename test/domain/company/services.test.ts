import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { overlaidCatalogue } from '../../../src/domain/catalog/catalog.js';
import { issuableActivities } from '../../../src/domain/company/activities.js';
import { checkEligibility } from '../../../src/domain/company/eligibility.js';
import { isDueWherePerformed, unmetDemandOf } from '../../../src/domain/company/service-rules.js';
import { shippedCatalogue } from '../../../src/tables/catalogue.js';
import { readTable } from '../../../src/tables/tsv.js';
import { company, facts, line, registration, request } from '../../support/fixture/company.js';
import { officialIncidenceFile } from '../../support/fixture/samples.js';
import { itWith } from '../../support/needs.js';

const shippedLines = readTable('catalogue.tsv', ['cnae', 'service_code']);

/** Cells of the official sheet by its columns. */
const officialServices = (): readonly Record<string, string>[] => {
  const [header = '', ...rows] = readFileSync(officialIncidenceFile, 'utf8').trimEnd().split('\n');
  const columns = header.split('\t');
  return rows.map((row) => Object.fromEntries(row.split('\t').map((cell, index) => [columns[index], cell])));
};

describe('a service that demands what the API has no fields for', () => {
  it.each([
    ['070202', 'E0370'],
    ['141404', 'E0370'],
    ['120701', 'E0390'],
    ['170501', 'E0234'],
    ['990101', 'E0532'],
  ])('%s is known by the code that would refuse it, %s', (code, ruleCode) => {
    expect(unmetDemandOf(code)).toMatchObject({ ruleCode });
  });

  it.each(['010101', '070101', '071001', '140101', '170601', '112001'])('is not %s', (code) => {
    expect(unmetDemandOf(code)).toBeUndefined();
  });

  itWith('samples', 'is every one that the official sheet says so of, and no other', () => {
    const rows = officialServices();
    const demandedBy = (row: Record<string, string>): string | undefined => {
      if (row.grupos_obrigatorios === 'obra') return 'E0370';
      if (row.grupos_obrigatorios === 'atvEvento') return 'E0390';
      if (row.incid_ET_tomador === 'X') return 'E0234';
      return row.cTribNac === '990101' ? 'E0532' : undefined;
    };
    for (const row of rows) expect(unmetDemandOf(row.cTribNac ?? '')?.ruleCode, row.cTribNac).toBe(demandedBy(row));
    expect(rows.length).toBeGreaterThan(300);
  });

  it('has only blocked lines in the shipped catalogue, and no other service has one', () => {
    for (const { cnae, service_code } of shippedLines) {
      const found = shippedCatalogue.linesOf(cnae).filter(({ serviceCode }) => serviceCode === service_code);
      expect(found.map(({ isBlocked }) => isBlocked)).not.toContain(unmetDemandOf(service_code) === undefined);
    }
    expect(shippedLines.filter(({ service_code }) => unmetDemandOf(service_code) !== undefined).length).toBeGreaterThan(
      50,
    );
  });

  it('is not listed and is refused by name, shipped or released by an import from before', () => {
    const activities = [{ cnae: '4120400', isMain: true }];
    const works = { ...company, registration: { ...registration, activities } };
    const released = line('4120400', '070202', { isDefault: true });
    const imported = overlaidCatalogue(shippedCatalogue, new Map([['4120400', [released, line('4120400', '010101')]]]));
    const refusal = (catalogue: typeof imported, sent = {}) =>
      checkEligibility({ ...request, ...sent }, { ...facts, company: works, catalogue });
    const listed = (catalogue: typeof imported) =>
      issuableActivities(works.registration, 'live', catalogue).map(({ service_code }) => service_code);

    expect(listed(shippedCatalogue)).not.toContain('070202');
    expect(listed(imported)).toEqual(['010101']);
    expect(refusal(imported, { cnae: '4120400' })).toEqual({ refused: { code: 'nfse.cnae_not_allowed' } });
    expect(refusal(imported, { serviceCode: '070202' })).toEqual({
      refused: { code: 'nfse.service_code_not_allowed' },
    });
    expect(refusal(shippedCatalogue)).toEqual({ refused: { code: 'nfse.cnae_not_allowed' } });
  });
});

describe('the place where the ISSQN is due', () => {
  itWith('samples', 'is that of the performance for exactly the services of the official sheet', () => {
    for (const { cTribNac = '', incid_LP_local_prestacao = '' } of officialServices())
      expect(isDueWherePerformed(cTribNac), cTribNac).toBe(incid_LP_local_prestacao.endsWith('X'));
  });

  it('is the provider’s for software, that of the performance for cleaning of streets', () => {
    expect(isDueWherePerformed('010101')).toBe(false);
    expect(isDueWherePerformed('070901')).toBe(true);
  });
});
