import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AcceptDeps } from '../../../src/app/accept/accept-deps.js';
import { acceptInvoice } from '../../../src/app/accept/accept-invoice.js';
import { guardHashes } from '../../../src/app/accept/guard-hashes.js';
import { createEventStore } from '../../../src/app/event-store/event-store.js';
import { overlaidCatalogue } from '../../../src/domain/catalog/catalog.js';
import { buildDps } from '../../../src/domain/dps/build-dps.js';
import type { InvoiceEvent } from '../../../src/domain/invoice/events.js';
import { issueRequestOf } from '../../../src/http/body/issue-request.js';
import {
  centralBankCode,
  currencyCodes,
  ibsCbsTables,
  isCurrency,
  isCustomerCountry,
  shippedCatalogue,
} from '../../../src/tables/catalogue.js';
import { municipalityByName } from '../../../src/tables/municipalities.js';
import { brokenCodes } from '../../support/fixture/broken-codes.js';
import type { Accepted } from '../../support/fixture/dps-facts.js';
import { type Attempt, attempts } from '../../support/fixture/eligible-requests.js';
import { requester } from '../../support/harness/accept.js';
import { fixedGuardKeys, fixedKeys, movableClock } from '../../support/harness/event-store.js';
import { memoryEventLog } from '../../support/memory/event-log.js';
import { createMemoryGuards } from '../../support/memory/guards.js';
import { schemaFaults } from '../../support/schema.js';

const RIO = '3304557';

const municipalityCode = (city: string, state: string): string | undefined => municipalityByName(city, state)?.ibge;

/** Tables, catalogue, rules of the body and acceptance are those of the product. */
const depsOf = (attempt: Attempt, appended: InvoiceEvent[]): AcceptDeps => {
  const { registration, imported, acceptedAt } = attempt;
  const guards = createMemoryGuards();
  const store = createEventStore(memoryEventLog(), fixedKeys());
  const lines = imported === undefined ? new Map() : new Map([[imported.cnae, [imported]]]);
  return {
    store: {
      ...store,
      append: (stream, version, events, context) => {
        appended.push(...(events as readonly InvoiceEvent[]));
        return store.append(stream, version, events, context);
      },
    },
    idempotency: guards.idempotency,
    duplicates: guards.duplicates,
    hashes: guardHashes(fixedGuardKeys()),
    underWay: new Map(),
    ibsCbs: ibsCbsTables,
    municipalityCode,
    taxRegistry: {
      lookup: async (cnpj) => ({
        cnpj,
        legalName: 'CLIENTE REGISTRADO SA',
        ...(attempt.registryAddress === undefined ? {} : { address: attempt.registryAddress }),
      }),
    },
    clock: movableClock(acceptedAt),
    company: async () => ({
      kind: 'company',
      registration,
      enabled: true,
      keys: [],
      certificate: {
        certificateId: 'c',
        fingerprint: 'f',
        notBefore: '2025-01-01T00:00:00.000Z',
        notAfter: '2040-01-01T00:00:00.000Z',
      },
    }),
    eligibilityFacts: async () => ({
      municipality: { ibge: RIO, requiresCustomer: false, requiresRegistration: false },
      catalogue: overlaidCatalogue(shippedCatalogue, lines),
      isCountry: isCustomerCountry,
      isCurrency,
      currencies: currencyCodes(),
    }),
    windows: { idempotencySeconds: 86_400, duplicateSeconds: 60 },
  };
};

/** What was recorded; undefined for a request that is refused. */
const accepted = async (attempt: Attempt): Promise<Accepted | undefined> => {
  const { body, serviceCode, cnae, acceptedAt, mode, registration } = attempt;
  const read = issueRequestOf({ ...body, cnae, service_code: serviceCode }, acceptedAt);
  if ('refused' in read) return undefined;
  const appended: InvoiceEvent[] = [];
  const by = { ...requester, mode, companyId: registration.cnpj };
  await acceptInvoice({ request: read.request }, by, depsOf(attempt, appended));
  const [event] = appended;
  return event?.type === 'InvoiceAccepted' ? event.data : undefined;
};

/** Kinds of documents that the run must contain. */
const KINDS: Readonly<Record<string, (xml: string) => boolean>> = {
  'of a MEI': (xml) => xml.includes('<opSimpNac>2<'),
  'with all taxes in the Simples': (xml) => xml.includes('<regApTribSN>1<'),
  'with the ISSQN outside the Simples': (xml) => xml.includes('<regApTribSN>2<'),
  'with all taxes outside the Simples': (xml) => xml.includes('<regApTribSN>3<'),
  'of a special regime': (xml) => xml.includes('<regEspTrib>6<'),
  'with IBS and CBS and the address of the customer': (xml) => xml.includes('<IBSCBS>') && xml.includes('<endNac>'),
  'of an export': (xml) => xml.includes('<tribISSQN>3<'),
  'for a customer abroad, taxable here': (xml) => xml.includes('<tribISSQN>1<') && xml.includes('<endExt>'),
  'with a municipal code': (xml) => xml.includes('<cTribMun>'),
  'without a customer': (xml) => !xml.includes('<toma>'),
  'of a person': (xml) => xml.includes('<toma><CPF>'),
  'of the first second of a day': (xml) => xml.includes('T00:00:00-03:00</dhEmi>'),
  'of a CNPJ with letters': (xml) => /<prest><CNPJ>[0-9]*[A-Z]/.test(xml),
};

describe('any eligible request', () => {
  it('gives a document that passes the official schema and breaks no rule of the authorizer', async () => {
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(attempts, fc.integer({ min: 1, max: 999_999_999_999_999 }), async (attempt, number) => {
        const facts = await accepted(attempt);
        fc.pre(facts !== undefined);
        const input = { mode: facts.mode, series: '1', number, accepted: facts, currencyCode: centralBankCode };
        const { xml } = buildDps(input);
        expect(schemaFaults('DPS', Buffer.from(xml))).toEqual([]);
        expect(brokenCodes(xml, facts)).toEqual([]);
        expect(buildDps({ ...input, accepted: structuredClone(facts) }).xml).toBe(xml);
        for (const [kind, isKind] of Object.entries(KINDS)) if (isKind(xml)) seen.add(kind);
      }),
      // The rarest kind is one in sixty: a run misses it once in a hundred million.
      { numRuns: 1_200, maxSkipsPerRun: 50 },
    );
    expect(Object.keys(KINDS).filter((kind) => !seen.has(kind))).toEqual([]);
  });
});
