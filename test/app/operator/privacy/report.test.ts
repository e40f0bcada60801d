import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createEventStore } from '../../../../src/app/event-store/event-store.js';
import type { DomainEvent } from '../../../../src/app/event-store/event-types.js';
import { readDocument } from '../../../../src/app/operator/privacy/document.js';
import { type PrivacyDeps, type PrivacyReport, reportOn } from '../../../../src/app/operator/privacy/report.js';
import { keyGoneAt } from '../../../../src/app/retention/test-retention.js';
import { revealsStream } from '../../../../src/domain/audit/events.js';
import { invoiceStream, type Mode, publicInvoiceId } from '../../../../src/domain/common/ids.js';
import type { CompanyState } from '../../../../src/domain/company/company.js';
import type { InvoiceEvent } from '../../../../src/domain/invoice/events.js';
import { registryStream } from '../../../../src/domain/registry/events.js';
import { DEMO_CNPJ, demoCompany } from '../../../support/fixture/demo.js';
import { accepted, at, attempted, limits, T0 } from '../../../support/fixture/invoice.js';
import { appendTo, fixedKeys, generationOf, movableClock } from '../../../support/harness/event-store.js';
import { scriptedReadModel } from '../../../support/harness/workers.js';
import { memoryEventLog } from '../../../support/memory/event-log.js';

const CPF = '11144477735';
const OTHER_CNPJ = '98765432000198';

const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const streamOf = (n: number, mode: Mode = 'live', company = DEMO_CNPJ) => invoiceStream(mode, company, idOf(n));
const customer = (document: string) => ({ customer: { type: 'br' as const, document, name: 'Maria' } });

const createHarness = () => {
  const log = memoryEventLog();
  const keys = fixedKeys();
  const store = createEventStore(log, keys);
  const { readModel } = scriptedReadModel({});
  const company: CompanyState = demoCompany(DEMO_CNPJ);
  const clock = movableClock(T0);
  const deps: PrivacyDeps = {
    log,
    store,
    sealingKeys: keys,
    clock,
    actor: 'support:ana',
    readModel: { ...readModel, companies: async () => [company] },
    testRetentionSeconds: limits.testRetentionSeconds,
  };
  return {
    log,
    keys,
    clock,
    deps,
    record: (stream: string, ...events: DomainEvent[]) => appendTo(store, stream, events, T0),
    report: async (typed: string, limit = 10): Promise<PrivacyReport> => {
      const document = readDocument(typed);
      if (document === undefined) throw new Error('no document');
      return await reportOn(document, limit, deps);
    },
  };
};

const idsIn = ({ invoices }: PrivacyReport): readonly string[] => invoices.map(({ id }) => id);

describe('what is said of a person', () => {
  it('names each invoice of each company and mode with what is sealed in it, and none of anybody else', async () => {
    const { record, report } = createHarness();
    await record(streamOf(1), accepted({ ...customer(CPF), invoiceId: idOf(1) }), attempted(1, 5));
    await record(streamOf(2), accepted({ ...customer('52998224725') }));
    await record(streamOf(3, 'test'), accepted({ ...customer('111.444.777-35'), mode: 'test' }));
    await record(streamOf(4, 'live', OTHER_CNPJ), accepted({ ...customer(CPF), companyId: OTHER_CNPJ }));
    const personReport = await report(CPF);
    expect(idsIn(personReport)).toEqual([1, 3, 4].map((n) => publicInvoiceId(idOf(n))));
    expect(personReport.invoices[0]).toEqual({
      id: publicInvoiceId(idOf(1)),
      company: DEMO_CNPJ,
      mode: 'live',
      stream: streamOf(1),
      foundIn: ['customer'],
      events: [
        { revision: 0, type: 'InvoiceAccepted', at: T0, sealed: ['customer', 'description'] },
        { revision: 1, type: 'IssuanceAttempted', at: T0, sealed: ['digest', 'signedDpsGzip'] },
      ],
      inReadModel: false,
    });
    expect(personReport.invoices[1]?.test).toEqual({
      ends: at(7 * 86_400),
      isOver: false,
      unreadable: keyGoneAt('2026-11-21'),
      keyIsKept: true,
    });
    expect(personReport.totals).toEqual([
      { companyId: DEMO_CNPJ, mode: 'live', invoices: 1 },
      { companyId: DEMO_CNPJ, mode: 'test', invoices: 1 },
      { companyId: OTHER_CNPJ, mode: 'live', invoices: 1 },
    ]);
  });

  it.each(['sealed:1:t9999-99-99:x', 'sealed:1:t2099-12-31:x'])(
    'takes no text of the client for sealed text, in clear or sealed: %s',
    async (typed) => {
      const { record, report } = createHarness();
      const clear = { ...customer(CPF), mode: 'test' as const };
      await record(streamOf(1, 'test'), accepted({ ...clear, reference: typed, description: `${typed} ${CPF}` }));
      const [found] = (await report(CPF)).invoices;
      expect(found).toMatchObject({
        foundIn: ['customer', 'description'],
        events: [{ type: 'InvoiceAccepted', sealed: ['customer', 'description'] }],
        test: { unreadable: keyGoneAt('2026-11-21') },
      });
    },
  );

  it('finds a foreign customer by its NIF, and a document that stands in a description', async () => {
    const { record, report } = createHarness();
    const address = { street: 'A', number: '1', district: 'B', city: 'C', state: 'D', postalCode: '1', country: 'US' };
    await record(streamOf(1), accepted({ customer: { type: 'foreign', name: 'J', taxId: 'ab-12', address } }));
    await record(streamOf(2), accepted({ description: `Aulas para ${CPF}` }));
    expect(idsIn(await report('AB12'))).toEqual([publicInvoiceId(idOf(1))]);
    expect((await report(CPF)).invoices[0]).toMatchObject({ stream: streamOf(2), foundIn: ['description'] });
  });

  it('finds a document in each text that a client or support typed, and counts an invoice once', async () => {
    const { record, report } = createHarness();
    const address = { street: `Rua 1, ${CPF}`, number: '1', district: 'B', city: 'C', state: 'D', postalCode: '1' };
    await record(streamOf(1), accepted({ reference: 'cpf-111.444.777-35' }));
    await record(
      streamOf(2),
      accepted({ customer: { type: 'foreign', name: 'J', address: { ...address, country: 'US' } } }),
    );
    const request = { request: 1, reason: 'other', description: 'Pedido de 111 444 777 35', requestedAt: T0 } as const;
    await record(streamOf(3), accepted({}), { type: 'CancellationRequested', data: request });
    const resolved = { as: 'failed', evidence: `Telefonema, CPF ${CPF}`, at: T0 } as const;
    await record(streamOf(4), accepted(customer(CPF)), { type: 'IndeterminateResolved', data: resolved });
    const personReport = await report(CPF);
    expect(personReport.invoices.map(({ foundIn }) => foundIn)).toEqual([
      ['reference'],
      ['customer'],
      ['cancellation'],
      ['customer', 'settlement'],
    ]);
    expect(personReport.totals).toEqual([{ companyId: DEMO_CNPJ, mode: 'live', invoices: 4 }]);
  });

  it('looks into the XML of an import, where the issuer itself is no person that asks', async () => {
    const { record, report } = createHarness();
    const xml = `<emit><CNPJ>${DEMO_CNPJ}</CNPJ></emit><toma><CPF>${CPF}</CPF></toma>`;
    await record(streamOf(1), imported({ nfseXmlGzip: gzipSync(xml).toString('base64') }));
    expect((await report(CPF)).invoices[0]?.foundIn).toEqual(['xml']);
    expect((await report(DEMO_CNPJ)).invoices).toEqual([]);
  });

  it.each([
    ['of an import, in a name', 'xml', (gzip: string) => imported({ nfseXmlGzip: gzip }), `<xNome>JOAO ${CPF}</xNome>`],
    ['of an import, in the service', 'xml', (gzip: string) => imported({ nfseXmlGzip: gzip }), DESCRIPTION],
    ['of a cancellation elsewhere', 'cancellation', canceledElsewhere, `<xMotivo>Pedido de ${CPF}</xMotivo>`],
    ['of a cancellation elsewhere, as its author', 'cancellation', canceledElsewhere, `<CPFAutor>${CPF}</CPFAutor>`],
    ['of a cancellation that support settled', 'cancellation', settled, `<xMotivo>CPF: ${CPF}</xMotivo>`],
  ] as const)('looks into the texts of the XML %s', async (_what, part, eventWith, xml) => {
    const { record, report } = createHarness();
    const event = eventWith(gzipSync(xml).toString('base64'));
    await record(streamOf(1), ...(event.type === 'InvoiceImported' ? [event] : [accepted({}), event]));
    expect((await report(CPF)).invoices.map(({ foundIn }) => foundIn)).toEqual([[part]]);
  });

  it('counts all and lists as many as asked for', async () => {
    const { record, report } = createHarness();
    for (const n of [1, 2, 3]) await record(streamOf(n), accepted(customer(CPF)));
    const personReport = await report(CPF, 2);
    expect([personReport.invoices.length, personReport.totals[0]?.invoices]).toEqual([2, 3]);
  });

  it('says of a test invoice whose end has passed that it is there, and whether its key is', async () => {
    const { record, report, clock, keys } = createHarness();
    await record(streamOf(1, 'test'), accepted({ ...customer(CPF), mode: 'test', reference: `pedido-${CPF}` }));
    clock.pass(7 * 86_400);
    expect((await report(CPF)).invoices[0]?.test).toMatchObject({ isOver: true, keyIsKept: true });
    clock.pass(30 * 86_400);
    expect((await report(CPF)).invoices[0]?.test).toMatchObject({ isOver: true, keyIsKept: true });
    keys.destroy(generationOf.test);
    expect((await report(CPF)).invoices[0]).toMatchObject({ foundIn: ['reference'], test: { keyIsKept: false } });
  });

  it('is narrowed to the invoices and the registration of one company, with the registry that all share', async () => {
    const { record, deps, keys } = createHarness();
    await record(streamOf(1), accepted(customer(CPF)));
    await record(streamOf(2, 'live', OTHER_CNPJ), accepted({ ...customer(CPF), companyId: OTHER_CNPJ }));
    await record(streamOf(3, 'test'), accepted({ ...customer(CPF), mode: 'test' }));
    const cnpj = '11222333000181';
    await record(registryStream(cnpj), { type: 'RegistryEntryPut', data: { cnpj, legalName: `ANA ${CPF}`, at: T0 } });
    keys.destroy(generationOf.test);
    const narrowed = await reportOn({ kind: 'cpf', text: CPF }, 10, { ...deps, companyId: OTHER_CNPJ });
    expect(narrowed).toMatchObject({
      totals: [{ companyId: OTHER_CNPJ, invoices: 1 }],
      invoices: [{ company: OTHER_CNPJ }],
      registry: [registryStream(cnpj)],
      unreadable: 0,
    });
    const ofOther = { ...deps, companyId: OTHER_CNPJ };
    expect((await reportOn({ kind: 'cnpj', text: DEMO_CNPJ }, 10, ofOther)).companies).toEqual([]);
  });

  it('counts test invoices that nobody can open any more', async () => {
    const { record, report, keys } = createHarness();
    await record(streamOf(1, 'test'), accepted({ ...customer(CPF), mode: 'test' }));
    keys.destroy(generationOf.test);
    expect(await report(CPF)).toMatchObject({ invoices: [], unreadable: 1 });
  });

  it('names the tax registry’s entry and the company that has the number, and a MEI’s by its CPF', async () => {
    const { record, report, deps } = createHarness();
    const cnpj = '11222333000181';
    await record(registryStream(cnpj), {
      type: 'RegistryEntryPut',
      data: { cnpj, legalName: `MARIA ${CPF}`, at: T0 },
    });
    expect((await report(cnpj)).registry).toEqual([registryStream(cnpj)]);
    expect((await report(CPF)).registry).toEqual([registryStream(cnpj)]);
    expect((await report(DEMO_CNPJ)).companies).toEqual([DEMO_CNPJ]);
    expect((await reportOn({ kind: 'nif', text: 'MARIA' }, 1, deps)).registry).toEqual([]);
  });

  it('is on record before anything is opened, with the actor and without the document', async () => {
    const { record, report, log, deps } = createHarness();
    await record(streamOf(1), accepted(customer(CPF)));
    const personReport = await report(CPF);
    const [event] = await log.read(revealsStream);
    expect(event).toMatchObject({
      type: 'PersonalDataRevealed',
      data: { command: 'privacy report', subject: `document ${personReport.document.mark}` },
      metadata: { actor: 'support:ana' },
    });
    expect(JSON.stringify([event?.data, event?.metadata])).not.toContain(CPF);
    const unrecorded = { ...deps, store: { ...deps.store, append: () => Promise.reject(new Error('not now')) } };
    const opened: string[] = [];
    const watched = {
      ...deps.sealingKeys,
      forOpening: (generation: string, stream: string) => {
        opened.push(stream);
        return deps.sealingKeys.forOpening(generation, stream);
      },
    };
    await expect(reportOn({ kind: 'cpf', text: CPF }, 1, { ...unrecorded, sealingKeys: watched })).rejects.toThrow();
    expect(opened).toEqual([]);
  });

  it('says nothing that was opened, and every place with its reason and its end', async () => {
    const { record, report } = createHarness();
    await record(streamOf(1), accepted({ ...customer(CPF), description: 'Consulta' }));
    const personReport = await report(CPF);
    for (const word of [CPF, 'Maria', 'Consulta']) expect(JSON.stringify(personReport)).not.toContain(word);
    for (const { holds, why, until } of personReport.holdings) expect([holds, why, until]).not.toContain('');
    expect(personReport.holdings.map(({ place }) => place)).toEqual(
      expect.arrayContaining([
        'read model',
        'company registrations and actors',
        'guards',
        'exports of events',
        'backups',
        'logs and metrics',
      ]),
    );
  });
});

const DESCRIPTION = '<xDescServ>Aula para Maria, CPF 111.444.777-35</xDescServ>';

const canceledElsewhere = (eventXmlGzip: string): InvoiceEvent => ({
  type: 'NoteCanceledElsewhere',
  data: { accessKey: '1'.repeat(50), eventType: '101101', eventXmlGzip, eventSha256: 'x', canceledAt: T0, at: T0 },
});

const settled = (eventXmlGzip: string): InvoiceEvent => ({
  type: 'CancellationSettledBySupport',
  data: { evidence: 'Portal', eventXmlGzip, eventSha256: 'x', canceledAt: T0, at: T0 },
});

const imported = (more: object): InvoiceEvent => ({
  type: 'InvoiceImported',
  data: {
    mode: 'live',
    companyId: DEMO_CNPJ,
    invoiceId: idOf(1),
    origin: 'legacy',
    state: 'issued',
    amountInCents: 100,
    importedAt: T0,
    ...more,
  },
});
