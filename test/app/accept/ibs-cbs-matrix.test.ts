import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { acceptInvoice } from '../../../src/app/accept/accept-invoice.js';
import { issueCertificate } from '../../../src/certificates/issue-certificate.js';
import { overlaidCatalogue } from '../../../src/domain/catalog/catalog.js';
import type { OperatorLine } from '../../../src/domain/catalog/events.js';
import { type Instant, instant } from '../../../src/domain/common/time.js';
import type { Registration } from '../../../src/domain/company/events.js';
import { buildDps } from '../../../src/domain/dps/build-dps.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { issueRequestOf } from '../../../src/http/body/issue-request.js';
import { shippedCatalogue } from '../../../src/tables/catalogue.js';
import { signDocument } from '../../../src/xml/sign.js';
import { brokenCodes } from '../../support/fixture/broken-codes.js';
import type { Accepted } from '../../support/fixture/dps-facts.js';
import { acceptHarness, requester } from '../../support/harness/accept.js';
import { movableClock } from '../../support/harness/event-store.js';
import { xmllintAccepts, xmlsecVerifies } from '../../support/harness/xml-programs.js';
import { itWith } from '../../support/needs.js';
import { schemaFaults } from '../../support/schema.js';

/*
 * Every regime, customer, service and date through the acceptance, judged by rules that are written here a second time from the sources in
 * docs/national-system.md, on the text of the document alone. Nothing of the product's own decision is used.
 */

const regimes = {
  mei: { taxRegime: 'mei', simplesAssessment: 'none' },
  'ME/EPP, all in the Simples': { taxRegime: 'simples', simplesAssessment: 'all' },
  'ME/EPP, federal taxes in the Simples': { taxRegime: 'simples', simplesAssessment: 'federal_only' },
  'ME/EPP, nothing in the Simples': { taxRegime: 'simples', simplesAssessment: 'none' },
  normal: { taxRegime: 'normal', simplesAssessment: 'none' },
} as const satisfies Record<string, Pick<Registration, 'taxRegime' | 'simplesAssessment'>>;

/** The last and the first instant of a competence in Brasília, UTC-3. */
const instants: readonly (readonly [Instant, competence: string])[] = [
  '2026-10-01',
  '2026-12-01',
  '2027-01-01',
].flatMap((day) => {
  const midnight = Date.parse(`${day}T03:00:00.000Z`);
  const before = new Date(Date.parse(day) - 1).toISOString().slice(0, 10);
  return [[instant(midnight - 1), before] as const, [instant(midnight), day] as const];
});

type Service = {
  serviceCode: string;
  nbs: string;
  choice?: Pick<OperatorLine, 'indOp' | 'classTrib' | 'classTribRegular'>;
  /** What must be declared; undefined where annex VIII leaves a choice that nobody made, or where a group is missing. */
  expected: { indOp: string; classTrib: string } | undefined;
};

/** Operations, as annex VIII has them for the pair, and as operators settle them. */
const services: Readonly<Record<string, Service>> = {
  software: { serviceCode: '010101', nbs: '115022000', expected: { indOp: '100301', classTrib: '000001' } },
  licence: { serviceCode: '010501', nbs: '111032100', expected: { indOp: '100501', classTrib: '000001' } },
  'security, a choice': { serviceCode: '010101', nbs: '115029000', expected: undefined },
  'security, chosen': {
    serviceCode: '010101',
    nbs: '115029000',
    choice: { classTrib: '200044' },
    expected: { indOp: '100301', classTrib: '200044' },
  },
  lawyer: { serviceCode: '171401', nbs: '113012000', expected: { indOp: '100301', classTrib: '200052' } },
  physician: { serviceCode: '040101', nbs: '123012200', expected: undefined },
  'physician at the practice': {
    serviceCode: '040101',
    nbs: '123012200',
    choice: { indOp: '030101' },
    expected: { indOp: '030101', classTrib: '200029' },
  },
  bank: { serviceCode: '150101', nbs: '109052100', expected: { indOp: '100301', classTrib: '820007' } },
  'cleaning of a building': { serviceCode: '071001', nbs: '118031000', expected: undefined },
  suspended: {
    serviceCode: '010101',
    nbs: '115022000',
    choice: { indOp: '050101', classTrib: '550016', classTribRegular: '000001' },
    expected: { indOp: '050101', classTrib: '550016' },
  },
};

const CNPJ_WITH_ADDRESS = '11222333000181';
const abroad = {
  type: 'foreign',
  name: 'ACME',
  tax_id: '1',
  address: {
    street: 'Main',
    number: '1',
    district: 'D',
    city: 'Austin',
    state: 'TX',
    postal_code: '73301',
    country: 'US',
  },
};
const dollars = { currency: 'USD', amount_in_cents: 500 };

type Customer = { body: object; exportClassTrib?: string; form: 'nobody' | 'address' | 'no address' | 'abroad' };

const customers: Readonly<Record<string, Customer>> = {
  nobody: { body: {}, form: 'nobody' },
  'a name': { body: { customer: { name: 'Maria' } }, form: 'nobody' },
  'a person': { body: { customer: { document: '52998224725', name: 'Maria' } }, form: 'no address' },
  'a company': { body: { customer: { document: '11444777000161', name: 'X' } }, form: 'no address' },
  'a company in the registry': { body: { customer: { document: CNPJ_WITH_ADDRESS } }, form: 'address' },
  'a customer abroad': { body: { customer: abroad, foreign_amount: dollars }, form: 'abroad' },
  'a customer abroad of a company that chose': {
    body: { customer: abroad, foreign_amount: dollars },
    form: 'abroad',
    exportClassTrib: '410027',
  },
};

type Case = { regime: keyof typeof regimes; at: Instant; competence: string; service: Service; customer: Customer };

const acceptedOf = async ({ regime, at, service, customer }: Case): Promise<Accepted> => {
  const { deps, company } = acceptHarness();
  const { serviceCode, nbs, choice } = service;
  const cnae = '6201501';
  const line: OperatorLine = { cnae, serviceCode, nbs, description: 'A', isDefault: true, isBlocked: false, ...choice };
  const { exportClassTrib } = customer;
  const current = company.current;
  company.current = {
    ...current,
    registration: {
      ...current.registration,
      ...regimes[regime],
      activities: [{ cnae, isMain: true }],
      ...(exportClassTrib === undefined ? {} : { ibsCbs: { declare: true, exportClassTrib, services: [] } }),
    },
    certificate: {
      certificateId: 'c',
      fingerprint: 'f',
      notBefore: '2026-01-01T00:00:00.000Z',
      notAfter: '2028-01-01T00:00:00.000Z',
    },
  };
  const facts = await deps.eligibilityFacts(company.current, 'test');
  const catalogue = overlaidCatalogue(shippedCatalogue, new Map([[cnae, [line]]]));
  let stored: InvoiceEvent | undefined;
  const { store } = deps;
  const read = issueRequestOf({ amount_in_cents: 10_000, description: 'Serviço', ...customer.body }, at);
  if ('refused' in read) throw new Error(read.refused.code);
  const result = await acceptInvoice(
    { request: read.request },
    { ...requester, mode: 'test' },
    {
      ...deps,
      clock: movableClock(at),
      eligibilityFacts: async () => ({ ...facts, catalogue }),
      taxRegistry: {
        lookup: async (cnpj) =>
          cnpj !== CNPJ_WITH_ADDRESS
            ? undefined
            : {
                cnpj,
                legalName: 'CLIENTE SA',
                address: {
                  street: 'Rua A',
                  number: '1',
                  district: 'Centro',
                  city: 'Niterói',
                  state: 'RJ',
                  postalCode: '24020077',
                },
              },
      },
      store: {
        ...store,
        append: (stream, version, events, context) => {
          stored = events[0] as InvoiceEvent;
          return store.append(stream, version, events, context);
        },
      },
    },
  );
  if ('refused' in result || stored?.type !== 'InvoiceAccepted') throw new Error(JSON.stringify(result));
  return stored.data;
};

const documentOf = (accepted: Accepted) =>
  buildDps({ mode: 'test', series: '1', number: 7, accepted, currencyCode: () => '220' });

const text = (xml: string, name: string): string | undefined => new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];

/** Places by the customer's address, of rules E0187 and E0234. */
const BY_CUSTOMER = /^(030102|050102|100101|100301|100501|030103|050103|100102|100201|100302|100401|100502|100601)$/;

/** Who declares at all: outside the Simples from 2026 on (E0850), optantes from 2027 on. */
const isTime = ({ regime, competence }: Case): boolean =>
  competence >= (regime === 'normal' ? '2026-01-01' : '2027-01-01');

const expectedOf = (one: Case): { indOp: string; classTrib: string } | undefined => {
  const { service, customer } = one;
  const { expected } = service;
  if (expected === undefined || !isTime(one)) return undefined;
  if (!BY_CUSTOMER.test(expected.indOp) || customer.form === 'address') return expected;
  if (customer.form !== 'abroad' || customer.exportClassTrib === undefined) return undefined;
  return { indOp: expected.indOp.replace(/1$/, '2'), classTrib: customer.exportClassTrib };
};

/** What is wrong with the document of a case. */
const faultsOf = (xml: string, one: Case): string[] => {
  const expected = expectedOf(one);
  const group = /<IBSCBS>.*<\/IBSCBS>/.exec(xml)?.[0];
  if (group === undefined) return expected === undefined ? [] : ['the group is missing'];
  const [indOp, classTrib, cst] = ['cIndOp', 'cClassTrib', 'CST'].map((name) => text(group, name) ?? '');
  const toma = /<toma>.*<\/toma>/.exec(xml)?.[0] ?? '';
  const checks: Record<string, boolean> = {
    'the group is there': expected === undefined,
    'another operation': indOp !== expected?.indOp,
    'another classification': classTrib !== expected?.classTrib,
    'another competence': text(xml, 'dCompet') !== one.competence,
    'not the last group': !xml.endsWith(`${group}</infDPS></DPS>`),
    E0322: !/<cNBS>\d{9}<\/cNBS>/.test(xml),
    E0850: one.competence < '2026-01-01',
    E0187: BY_CUSTOMER.test(indOp ?? '') && toma === '',
    E0234: BY_CUSTOMER.test(indOp ?? '') && !/<end>.*<\/end>/.test(toma),
    'abroad without its operation':
      toma.includes('<endExt>') && BY_CUSTOMER.test(indOp ?? '') && !/2$/.test(indOp ?? ''),
    E0959: cst !== classTrib?.slice(0, 3),
    E0964: group.includes('<gTribRegular>') && !/^55/.test(classTrib ?? ''),
    E0965: !group.includes('<gTribRegular>') && /^55/.test(classTrib ?? ''),
    E0971: group.includes('<gDif>'),
    E0910: group.includes('<dest>') || text(group, 'indDest') !== '0',
    'indFinal is about to end': group.includes('<indFinal>'),
  };
  return Object.entries(checks).flatMap(([fault, isFault]) => (isFault ? [fault] : []));
};

const allCases: readonly Case[] = (Object.keys(regimes) as (keyof typeof regimes)[]).flatMap((regime) =>
  instants.flatMap(([at, competence]) =>
    Object.values(services).flatMap((service) =>
      Object.values(customers).map((customer) => ({ regime, at, competence, service, customer })),
    ),
  ),
);

describe('IBS and CBS of every regime, service, customer and date', () => {
  it('are what rules that are written here a second time want', async () => {
    const wrong: string[] = [];
    const declared = new Set<string>();
    for (const one of allCases) {
      const accepted = await acceptedOf(one);
      const { xml } = documentOf(accepted);
      const faults = [...faultsOf(xml, one), ...schemaFaults('DPS', Buffer.from(xml)), ...brokenCodes(xml, accepted)];
      if (faults.length > 0)
        wrong.push(
          `${one.regime} ${one.at} ${JSON.stringify(one.service)} ${JSON.stringify(one.customer)}: ${faults.join('; ')}`,
        );
      const indOp = text(xml, 'cIndOp');
      if (indOp !== undefined) declared.add(`${one.regime}: ${indOp} ${text(xml, 'cClassTrib')}`);
    }
    expect(wrong).toEqual([]);
    expect(allCases).toHaveLength(5 * 6 * 10 * 7);
    // Nothing here is judged by its absence alone: every regime declares each of these.
    for (const regime of Object.keys(regimes)) {
      for (const one of [
        '100301 000001',
        '100302 410027',
        '100502 410027',
        '030101 200029',
        '100301 200052',
        '050101 550016',
      ])
        expect(declared).toContain(`${regime}: ${one}`);
    }
  });

  it('come from pairs that annex VIII has as this test says', () => {
    const annex = readFileSync('src/tables/data/annex-viii.tsv', 'utf8')
      .split('\n')
      .map((row) => row.split('\t'));
    for (const { serviceCode, nbs, expected, choice } of Object.values(services)) {
      const [, , indOps = '', classTribs = ''] = annex.find(([code, of]) => code === serviceCode && of === nbs) ?? [];
      if (expected !== undefined && choice?.indOp === undefined) expect(indOps).toBe(expected.indOp);
      if (expected !== undefined && choice?.classTrib === undefined) expect(classTribs).toBe(expected.classTrib);
      if (expected === undefined) expect(`${indOps} ${classTribs}`).toMatch(/ .* |^020201/);
    }
  });

  const some = allCases.filter((one, index) => expectedOf(one) !== undefined && index % 29 === 0);

  itWith('xmlsec1', 'are signed so that another program verifies the document', async () => {
    const identity = issueCertificate({ subjectName: 'Teste', validDays: 1, now: '2026-11-23T12:00:00.000Z' });
    expect(some.length).toBeGreaterThan(5);
    for (const one of some) {
      const { id, xml } = documentOf(await acceptedOf(one));
      const { bytes } = signDocument(xml, { signedElementName: 'infDPS', id, algorithm: 'c14n', ...identity });
      expect(xmlsecVerifies(bytes, 'infDPS')).toBe(true);
    }
  });

  itWith('xmllint', 'fit the official schema as another program reads it', async () => {
    for (const one of some) xmllintAccepts(Buffer.from(documentOf(await acceptedOf(one)).xml), 'DPS');
  });
});
