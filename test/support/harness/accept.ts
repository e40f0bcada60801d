import type { AcceptDeps, AcceptResult } from '../../../src/app/accept/accept-deps.js';
import { acceptInvoice } from '../../../src/app/accept/accept-invoice.js';
import { guardHashes } from '../../../src/app/accept/guard-hashes.js';
import type { Requester } from '../../../src/app/event-store/command-context.js';
import { createEventStore } from '../../../src/app/event-store/event-store.js';
import { bodyHashOf, sha256Hex } from '../../../src/app/event-store/hashes.js';
import type { Company } from '../../../src/domain/company/company.js';
import type { IssueRequest } from '../../../src/domain/company/eligibility.js';
import type { Invoice } from '../../../src/domain/invoice/state.js';
import type { EventLog, RecordedEvent } from '../../../src/ports/event-log.js';
import { ibsCbsTables } from '../../../src/tables/catalogue.js';
import { municipalityByName } from '../../../src/tables/municipalities.js';
import { catalogue, DEMO_CNPJ, demoCompany, OTHER_CNPJ } from '../fixture/demo.js';
import { T0 } from '../fixture/invoice.js';
import { memoryEventLog } from '../memory/event-log.js';
import { createMemoryGuards, type MemoryGuards } from '../memory/guards.js';
import { fixedGuardKeys, fixedKeys, type MovableClock, movableClock } from './event-store.js';

export type AcceptHarness = {
  log: EventLog;
  guards: MemoryGuards;
  clock: MovableClock;
  deps: AcceptDeps;
  company: { current: Company };
  /** Documents that the tax registry was asked for. */
  asked: string[];
  /** `key` is the Idempotency-Key's text. */
  post(request?: Partial<IssueRequest>, key?: string, by?: Partial<Requester>): Promise<AcceptResult>;
  /** Every accepted invoice in the log. */
  acceptances(): Promise<readonly RecordedEvent[]>;
  /** The database is lost, and all guards with it. */
  loseGuards(): void;
};

export const requester: Requester = { mode: 'live', companyId: DEMO_CNPJ, keyId: 'key_1', requestId: 'req_1' };

/** `isOneDatabase`: the log appends together with the guards (ADR 42). */
export const acceptHarness = ({ isOneDatabase = false } = {}): AcceptHarness => {
  let current = createMemoryGuards();
  const log = memoryEventLog(isOneDatabase ? () => current : undefined);
  const clock = movableClock(T0);
  const guards = current;
  const company = { current: demoCompany(DEMO_CNPJ) };
  const asked: string[] = [];
  const deps: AcceptDeps = {
    store: createEventStore(log, fixedKeys()),
    idempotency: guards.idempotency,
    duplicates: guards.duplicates,
    hashes: guardHashes(fixedGuardKeys()),
    taxRegistry: {
      lookup: async (cnpj) => {
        asked.push(cnpj);
        return cnpj === OTHER_CNPJ ? { cnpj, legalName: 'CLIENTE REGISTRADO SA' } : undefined;
      },
    },
    ibsCbs: ibsCbsTables,
    underWay: new Map(),
    municipalityCode: (city, state) => municipalityByName(city, state)?.ibge,
    clock,
    company: async () => company.current,
    eligibilityFacts: async () => ({
      municipality: { ibge: '3304557', requiresCustomer: false, requiresRegistration: false },
      catalogue,
      isCountry: (code) => code === 'US',
      isCurrency: (code) => code === 'USD',
      currencies: ['USD'],
    }),
    windows: { idempotencySeconds: 86_400, duplicateSeconds: 60 },
  };
  return {
    log,
    guards,
    clock,
    deps,
    company,
    asked,
    post: (changes = {}, key, by = {}) => {
      const request: IssueRequest = { amountInCents: 10_000, description: 'Serviço', ...changes };
      const plainBodyHash = bodyHashOf(request);
      const mark = key === undefined ? {} : { idempotency: { keyHash: sha256Hex(key), plainBodyHash } };
      return acceptInvoice({ request, ...mark }, { ...requester, ...by }, deps);
    },
    acceptances: async () =>
      (await log.readAll({ prefixes: ['nfse'], after: null, limit: 1_000 })).filter(
        ({ type }) => type === 'InvoiceAccepted',
      ),
    loseGuards: () => {
      current = createMemoryGuards();
      deps.idempotency = current.idempotency;
      deps.duplicates = current.duplicates;
    },
  };
};

export const acceptedOf = (result: AcceptResult): Invoice => {
  if ('refused' in result) throw new Error(`refused: ${result.refused.code}`);
  return result.accepted;
};

export const idOf = (result: AcceptResult): string => acceptedOf(result).facts.invoiceId;

export const codeOf = (result: AcceptResult): string => ('refused' in result ? result.refused.code : 'accepted');

/** For `describe.each`: log and guards in two databases, and in one. */
export const arrangements: readonly (readonly [where: string, open: () => AcceptHarness])[] = [
  ['', () => acceptHarness()],
  [' over one database', () => acceptHarness({ isOneDatabase: true })],
];
