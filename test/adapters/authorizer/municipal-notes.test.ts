import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadInvoice } from '../../../src/app/read/read-invoice.js';
import { accessKeyCheckDigit } from '../../../src/domain/common/access-key.js';
import { invoiceStream } from '../../../src/domain/common/ids.js';
import { gzipBase64 } from '../../../src/xml/packing.js';
import { DEMO_CNPJ } from '../../support/fixture/demo.js';
import { imported } from '../../support/fixture/invoice.js';
import { accessKey, eventAround, exOfficioEvent } from '../../support/fixture/sefin.js';
import { type Client, type ClientHarness, caller, openClientHarness } from '../../support/harness/authorizer-client.js';
import { html, json } from '../../support/harness/authorizer-server.js';
import { openReconciliationHarness } from '../../support/harness/reconciliation.js';

const made = `${accessKey.slice(0, 7)}1${accessKey.slice(8, -1)}`;
/** Of a note that a municipality's own system made. */
const KEY = `${made}${accessKeyCheckDigit(made)}`;

let harness: ClientHarness;
let client: Client;
beforeAll(async () => {
  harness = await openClientHarness();
  const adn = harness.server.address.replace('SefinNacional', 'contribuintes');
  client = harness.clientOf({ distribution: adn });
});
afterAll(() => harness.close());

const item = (TipoEvento: string | null, document?: Buffer) => ({
  NSU: 7,
  ChaveAcesso: KEY,
  TipoDocumento: 'EVENTO',
  TipoEvento,
  ArquivoXml: document === undefined ? null : gzipBase64(document),
});
/** The ADN gives the note itself with its events, and its item has no type of an event. */
const note = { NSU: 6, ChaveAcesso: KEY, TipoDocumento: 'NFSE', ArquivoXml: gzipBase64(Buffer.from('<NFSe/>')) };
const listed = (...documents: readonly object[]) =>
  json(200, { StatusProcessamento: 'DOCUMENTOS_LOCALIZADOS', LoteDFe: documents, Alertas: [], Erros: [] });
const nothing = { StatusProcessamento: 'NENHUM_DOCUMENTO_LOCALIZADO', LoteDFe: [], Erros: [{ Codigo: 'E2220' }] };
const canceled = () => listed(note, item('CONFIRMACAO_TOMADOR'), item('CANCELAMENTO_POR_OFICIO', exOfficioEvent(KEY)));

describe('the look-up of an event on a note that a municipality made', () => {
  it('asks the ADN alone, and reads and judges the event as one of Sefin', async () => {
    const before = harness.server.received.length;
    harness.server.answer(canceled());
    const answer = await client.findCancellation(caller, KEY);
    expect(answer).toMatchObject({ kind: 'found', found: { eventType: '305101', xml: exOfficioEvent(KEY) } });
    expect(answer).not.toHaveProperty('found.signatureFault');
    const paths = harness.server.received.slice(before).map(({ path }) => path);
    expect(paths).toEqual([`/contribuintes/NFSe/${KEY}/Eventos`]);
  });

  it('shows a signature that does not hold', async () => {
    const altered = Buffer.from(exOfficioEvent(KEY).toString('utf8').replace('13:34:50', '13:34:51'));
    harness.server.answer(listed(item('CANCELAMENTO_POR_OFICIO', altered)));
    expect(await client.findCancellation(caller, KEY)).toMatchObject({
      kind: 'found',
      found: { signatureFault: expect.any(String) },
    });
  });

  it.each([
    ['the 404 that finds nothing', json(404, nothing)],
    ['an event that cancels nothing', listed(item('CONFIRMACAO_TOMADOR'))],
    ['the note alone', listed(note)],
    ['the note and an event that cancels nothing', listed(note, item('CONFIRMACAO_TOMADOR'))],
  ])('takes %s for absence', async (_what, answer) => {
    harness.server.answer(answer);
    expect(await client.findCancellation(caller, KEY)).toEqual({ kind: 'absent' });
  });

  it.each([
    ['an HTML 404', html(404), 'adn_no_json_404'],
    ['another JSON 404', json(404, { message: 'Resource not found' }), 'adn_status_404'],
    ['too many calls', json(429, {}), 'adn_status_429'],
    ['a refused certificate', json(403, { Erros: [{ Codigo: 'E1203' }] }), 'adn_status_403'],
    ['an empty list', listed(), 'adn_status_200'],
    ['another note alone', listed({ ...note, ChaveAcesso: accessKey }), 'adn_absent_other_document'],
    ['the note and an event without its document', listed(note, item('CANCELAMENTO')), 'adn_not_ours_or_unreadable'],
    ['an event without its document', listed(item('CANCELAMENTO')), 'adn_not_ours_or_unreadable'],
    ['an event of another note', listed(item(null, exOfficioEvent(accessKey))), 'adn_not_ours_or_unreadable'],
  ])('concludes nothing from %s, neither about Sefin', async (_what, answer, reason) => {
    harness.server.answer(answer);
    expect(await client.findCancellation(caller, KEY)).toEqual({ kind: 'inconclusive', reason });
  });

  it('proves nothing without an address of the ADN, with an expired certificate, and after its time', async () => {
    const adn = harness.server.address;
    const expired = harness.clientOf({ distribution: adn, now: () => harness.company.notAfter });
    const answers = [
      await harness.client.findCancellation(caller, KEY),
      await expired.findCancellation(caller, KEY),
      await client.findCancellation(caller, KEY, '2026-01-01T00:00:00.000Z'),
    ];
    expect(answers.map((answer) => 'reason' in answer && answer.reason)).toEqual([
      'adn_no_address',
      'certificate_expired',
      'adn_deadline_passed',
    ]);
  });

  it('is not made for a note of Sefin', async () => {
    const before = harness.server.received.length;
    harness.server.answer(json(200, { eventos: [{ tipoEvento: 101101, arquivoXml: gzipBase64(cancellation()) }] }));
    expect(await client.findCancellation(caller, accessKey)).toMatchObject({ kind: 'found' });
    expect(harness.server.received.slice(before).map(({ path }) => path)).toEqual([
      `/SefinNacional/nfse/${accessKey}/eventos/101101/1`,
    ]);
  });

  const cancellation = () => eventAround(harness.cancellation.bytes);
});

describe('an imported invoice with the note of a municipality', () => {
  it('becomes canceled in a round, and an ADN that proves nothing holds up no round', async () => {
    const reconciliation = await openReconciliationHarness();
    const { clock, deps, looks, record, status, streams, walkToTheEnd } = reconciliation;
    const id = '00000000-0000-4000-8000-0000000000aa';
    const stream = invoiceStream('live', DEMO_CNPJ, id);
    const createdAt = clock.now();
    const data = { companyId: DEMO_CNPJ, invoiceId: id, accessKey: KEY, createdAt, importedAt: createdAt };
    await record(stream, imported(data));
    streams.push(stream);
    clock.pass(3_600);
    const { findCancellation } = client;
    const own = { ...deps, authorizer: { ...deps.authorizer, findCancellation } };
    harness.server.answer(json(429, {}));
    await walkToTheEnd('live', own);
    const afterOneRound = [...looks];
    harness.server.answer(canceled());
    clock.pass(24 * 3_600);
    await walkToTheEnd('live', own);
    expect([afterOneRound, looks]).toEqual([['inconclusive'], ['inconclusive', 'canceled_elsewhere']]);
    expect(await status(stream)).toBe('canceled');
    expect((await loadInvoice(stream, deps.store)).events.at(-1)).toMatchObject({
      type: 'NoteCanceledElsewhere',
      data: { accessKey: KEY, eventType: '305101' },
    });
    await reconciliation.close();
  });
});
