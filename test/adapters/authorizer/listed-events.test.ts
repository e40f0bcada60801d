import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compareRequest } from '../../../src/app/issuing/found-documents.js';
import { gzipBase64 } from '../../../src/xml/packing.js';
import { accessKey, eventAround, otherAccessKey, requestOf2025 } from '../../support/fixture/sefin.js';
import {
  type Client,
  type ClientHarness,
  caller,
  errors,
  openClientHarness,
} from '../../support/harness/authorizer-client.js';
import { json } from '../../support/harness/authorizer-server.js';

const BASE = `/SefinNacional/nfse/${accessKey}/eventos`;

let harness: ClientHarness;
/** A new one for each test, because a client remembers a missing list. */
let client: Client;
beforeAll(async () => {
  harness = await openClientHarness();
});
beforeEach(() => {
  client = harness.clientOf({});
});
afterAll(() => harness.close());

/** An authorizer without an event of ours, whose list is this one; a type is answered by its event if there is one. */
const listed = (list: object, events: Readonly<Record<string, Buffer>> = {}): void =>
  harness.server.answer((call, response) => {
    const type = call.path.slice(BASE.length).split('/')[1] ?? '';
    const event = events[type];
    const answer =
      event === undefined
        ? json(404, errors('E2401'))
        : json(200, { eventos: [{ tipoEvento: type, arquivoXml: gzipBase64(event) }] });
    return (call.path === BASE ? json(200, list) : answer)(call, response);
  });

/** The look-up, and the number of questions that it took: two where the list settles it. */
const found = async () => {
  const before = harness.server.received.length;
  const answer = await client.findCancellation(caller, accessKey);
  return { answer, questions: harness.server.received.length - before };
};

const substitution = () => eventAround(requestOf2025('105102'));

describe('the list of the events of a note', () => {
  it.each([
    ['an empty list', { eventos: [], erros: [], erro: null, alertas: null }],
    [
      'numbers',
      { tipoAmbiente: 2, versaoAplicativo: 'x', dataHoraProcessamento: 'x', eventos: [{ tipoEvento: 203202 }] },
    ],
    ['texts', { Eventos: [{ TipoEvento: '203202' }, { TipoEvento: '305102' }], Erros: null }],
  ])('shows that no event cancels the note: %s', async (_what, list) => {
    listed(list);
    expect(await found()).toEqual({ answer: { kind: 'absent' }, questions: 2 });
  });

  it.each([
    ['an error', { eventos: [], erros: [{ codigo: 'E999', descricao: 'Erro não catalogado' }] }],
    ['one page of several', { eventos: [], totalPaginas: 3, pagina: 1 }],
    ['a type by its name', { eventos: [{ TipoEvento: 'CANCELAMENTO_POR_SUBSTITUICAO' }] }],
    ['a type by its element', { eventos: [{ tipoEvento: 'e105102' }] }],
    ['a type with blanks', { eventos: [{ tipoEvento: ' 105102 ' }] }],
    ['a type that no annex knows', { eventos: [{ tipoEvento: 105199 }] }],
    ['an item without a type', { eventos: [{ evento: { tipoEvento: 105102 } }] }],
    ['a text in place of an item', { eventos: ['105102'] }],
    ['null in place of an item', { eventos: [null] }],
  ])('shows nothing with %s, so each type is asked for', async (_what, list) => {
    listed(list);
    expect(await found()).toEqual({ answer: { kind: 'absent' }, questions: 5 });
    listed(list, { '105102': substitution() });
    expect((await found()).answer).toMatchObject({ kind: 'found', found: { eventType: '105102' } });
  });

  it('proves nothing when it is the list of another note', async () => {
    listed({ chaveAcesso: otherAccessKey, eventos: [] });
    expect(await found()).toMatchObject({ answer: { kind: 'inconclusive', reason: 'absent_other_document' } });
    listed({ chaveAcesso: accessKey, eventos: [] });
    expect(await found()).toEqual({ answer: { kind: 'absent' }, questions: 2 });
  });

  it('shows an event that cancels the note beside items that show nothing', async () => {
    listed({
      eventos: [null, { tipoEvento: 105102, arquivoXml: gzipBase64(substitution()) }],
      erros: [{ codigo: 'E999' }],
    });
    expect(await found()).toMatchObject({ answer: { kind: 'found', found: { eventType: '105102' } }, questions: 2 });
  });
});

describe('a cancellation whose request has the three more digits of 2025 in its id', () => {
  const request = requestOf2025('101101');

  it('is found, and is another party’s', async () => {
    listed({ eventos: [] }, { '101101': eventAround(request) });
    const { answer } = await found();
    expect(answer).toMatchObject({ kind: 'found', found: { requestId: `PRE${accessKey}101101001` } });
    const { id: requestId, digest } = harness.cancellation;
    expect(answer.kind === 'found' && compareRequest(answer.found, [{ requestId, digest }])).toBe('other');
  });

  it('confirms no request of ours', async () => {
    harness.server.answer(json(201, { eventoXmlGZipB64: gzipBase64(eventAround(request)) }));
    const until = new Date(Date.now() + 60_000).toISOString();
    const sent = await client.sendCancellation(caller, accessKey, harness.cancellation.bytes, until);
    expect(sent).toMatchObject({ kind: 'unknown' });
  });
});
