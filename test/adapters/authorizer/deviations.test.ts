import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMunicipalParameters } from '../../../src/adapters/authorizer/parameters.js';
import { gzipBase64 } from '../../../src/xml/packing.js';
import { accessKey, eventAround, issued, noteAround, signedDps } from '../../support/fixture/sefin.js';
import {
  type ClientHarness,
  caller,
  errors,
  inAMinute,
  now,
  openClientHarness,
} from '../../support/harness/authorizer-client.js';
import { html, json } from '../../support/harness/authorizer-server.js';

let harness: ClientHarness;
beforeAll(async () => {
  harness = await openClientHarness();
});
afterAll(() => harness.close());

const sendDps = () => harness.client.sendDps(caller, harness.dps.bytes, inAMinute);
const sendCancellation = () =>
  harness.client.sendCancellation(caller, accessKey, harness.cancellation.bytes, inAMinute);
const findByDps = () => harness.client.findByDps(caller, harness.dps.id);
const findCancellation = () => harness.client.findCancellation(caller, accessKey);
const lastPath = (): string | undefined => harness.server.received.at(-1)?.path;
const event = (): string => gzipBase64(eventAround(harness.cancellation.bytes));
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('errors of POST /nfse in PascalCase', () => {
  it.each([
    ['PascalCase', { Codigo: 'E0316', Descricao: 'Valor', Complemento: 'do serviço', Parametros: null }],
    ['camelCase of the Swagger', { codigo: 'E0316', descricao: 'Valor', complemento: 'do serviço', parametros: [] }],
    ['camelCase with mensagem', { codigo: 'E0316', mensagem: 'Valor', complemento: 'do serviço' }],
  ])('are read in %s', async (_name, item) => {
    harness.server.answer(json(400, { erros: [item] }));
    expect(await sendDps()).toMatchObject({ kind: 'rejected', codes: ['E0316'], texts: ['Valor do serviço'] });
  });
});

it('texts of a refusal lose control characters and halves of pairs, of which an event could not hold fifty texts', async () => {
  const erros = Array.from({ length: 50 }, () => ({
    Codigo: 'E0316',
    Descricao: '\u0001\u009b\ud83d'.repeat(400),
  }));
  harness.server.answer(json(400, { erros }));
  expect(await sendDps()).toMatchObject({ kind: 'rejected', texts: Array(50).fill(' '.repeat(1_000)) });
});

describe('look-ups say erro where sends say erros', () => {
  it.each([
    ['erro', { erro: { codigo: 'E2404', descricao: 'x' } }],
    ['erros', { erros: [{ Codigo: 'E2404', Descricao: 'x' }] }],
  ])('absence is read from %s', async (_name, body) => {
    harness.server.answer(json(404, body));
    expect(await findByDps()).toEqual({ kind: 'absent' });
  });
});

describe('a rejected event with erro as a list', () => {
  it.each([
    ['a list in erro', { erro: [{ codigo: 'E0822', descricao: 'x' }] }],
    ['an object in erro', { erro: { codigo: 'E0822', descricao: 'x' } }],
    ['a list in erros', { erros: [{ codigo: 'E0822', descricao: 'x' }] }],
  ])('is a rejection in %s', async (_name, body) => {
    harness.server.answer(json(400, body));
    expect(await sendCancellation()).toMatchObject({ kind: 'rejected', codes: ['E0822'] });
  });
});

describe('idDps of a success holds the access key', () => {
  it('is no reason to doubt a note that is ours', async () => {
    harness.server.answer(json(201, { ...issued(noteAround(harness.dps.bytes)), idDps: `NFS${accessKey}` }));
    expect(await sendDps()).toMatchObject({ kind: 'done', result: { dpsId: harness.dps.id } });
  });

  it('makes no foreign note ours, even when it names our DPS', async () => {
    const foreign = noteAround((await signedDps(harness.company, 2)).bytes);
    harness.server.answer(json(201, { ...issued(foreign), idDps: harness.dps.id }));
    expect(await sendDps()).toMatchObject({ kind: 'unknown', reason: 'success_not_ours_or_unreadable' });
  });
});

describe('a refusal spells the id idDPS', () => {
  it.each(['idDPS', 'idDps'])('is a refusal with %s', async (name) => {
    harness.server.answer(json(400, { [name]: harness.dps.id, ...errors('E0316') }));
    expect(await sendDps()).toMatchObject({ kind: 'rejected', codes: ['E0316'] });
  });
});

describe('alertas is null or empty', () => {
  it.each([[null], [[]], [undefined]])('is a success with %j', async (alertas) => {
    harness.server.answer(json(201, { ...issued(noteAround(harness.dps.bytes)), alertas }));
    expect(await sendDps()).toMatchObject({ kind: 'done' });
  });
});

describe('dataHoraProcessamento with seven digits of a second', () => {
  it.each(['2026-09-15T11:53:45.7001131-03:00', '2026-09-15T11:53:45.700113-03:00', '2026-09-15T11:53:45-03:00'])(
    'is a success with %s, whose instant is the one of the document',
    async (dataHoraProcessamento) => {
      harness.server.answer(json(201, { ...issued(noteAround(harness.dps.bytes)), dataHoraProcessamento }));
      expect(await sendDps()).toMatchObject({ kind: 'done', result: { authorizedAt: '2026-09-15T13:32:37.000Z' } });
    },
  );
});

describe('the 404 of GET /dps says environment 0 and no version', () => {
  it('proves absence all the same', async () => {
    harness.server.answer(json(404, { tipoAmbiente: 0, erro: { codigo: 'E2404', descricao: 'Não encontrada' } }));
    expect(await findByDps()).toEqual({ kind: 'absent' });
  });
});

describe('the event query answers a list, its XML in base64 twice', () => {
  const item = {
    chaveAcesso: accessKey,
    numeroPedidoRegistroEvento: 1,
    dataHoraRecebimento: '2026-03-04T13:34:50.1234567',
  };

  it.each([
    ['a number', () => ({ eventos: [{ ...item, tipoEvento: 101101, arquivoXml: base64(event()) }] })],
    ['text', () => ({ eventos: [{ ...item, tipoEvento: '101101', arquivoXml: base64(event()) }] })],
    ['base64 once', () => ({ eventos: [{ ...item, tipoEvento: 101101, arquivoXml: event() }] })],
    ['the name that the ADN uses', () => ({ eventos: [{ ...item, tipoEvento: 'CANCELAMENTO', arquivoXml: event() }] })],
    ['nothing', () => ({ eventos: [{ ...item, arquivoXml: event() }] })],
    ['the Swagger', () => ({ eventoXmlGZipB64: event() })],
  ])('is found with its type as %s', async (_name, body) => {
    harness.server.answer(json(200, body()));
    expect(await findCancellation()).toMatchObject({
      kind: 'found',
      found: { requestId: harness.cancellation.id, registeredAt: '2026-03-04T16:34:50.000Z' },
    });
  });
});

describe('an event whose item has no number of its type', () => {
  it('is not taken for another event than its document holds', async () => {
    const other = noteAround(harness.dps.bytes);
    harness.server.answer(json(200, { eventos: [{ tipoEvento: 'CANCELAMENTO', arquivoXml: gzipBase64(other) }] }));
    expect(await findCancellation()).toMatchObject({ kind: 'inconclusive', reason: 'not_ours_or_unreadable' });
  });
});

describe('only the whole event path exists', () => {
  it('is the one that is asked, for each event that cancels a note, where the list is missing', async () => {
    const asked = harness.server.received.length;
    harness.server.answer(json(404, { erro: { codigo: 'E2401', descricao: 'x' } }));
    expect(await findCancellation()).toEqual({ kind: 'absent' });
    const paths = harness.server.received.slice(asked).map(({ path }) => path.split('/eventos')[1]);
    expect(paths.filter((path) => path !== '')).toEqual(['/101101/1', '/105102/1', '/105104/1', '/305101/1']);
  });

  it.each([405, 404])('and what the shorter ones answer, HTML with %i, proves nothing', async (status) => {
    harness.server.answer(html(status));
    expect(await findCancellation()).toMatchObject({ kind: 'inconclusive' });
  });
});

describe('the parameters have no path of the manual', () => {
  it('is asked for as the Swagger of /parametrizacao has it', async () => {
    const parameters = createMunicipalParameters({
      address: harness.server.address.replace('SefinNacional', 'parametrizacao'),
      trustRootsPem: [harness.authority.certificatePem],
      timeoutMs: 5_000,
      certificateOf: () => Promise.resolve(harness.company),
      now: () => now,
    });
    await parameters.ask(caller, '2111300', { kind: 'convenio' }, '2026-09-01');
    parameters.close();
    expect(lastPath()).toBe('/parametrizacao/2111300/convenio');
  });
});

describe('wrong paths and faults of the web server are HTML', () => {
  it.each([404, 307, 403, 500, 502])('says nothing about a send with %i', async (status) => {
    harness.server.answer(html(status));
    expect(await sendDps()).toMatchObject({ kind: 'unknown', httpStatus: status, codes: [] });
  });

  it('is no proof of absence with 404', async () => {
    harness.server.answer(html(404));
    expect(await findByDps()).toMatchObject({ kind: 'inconclusive', reason: 'no_json_404' });
  });

  it('does not come of our own paths, whose case is the one of the address', async () => {
    harness.server.answer(json(400, errors('E0316')));
    await sendDps();
    expect(lastPath()).toBe('/SefinNacional/nfse');
  });
});

describe('one fault under two codes', () => {
  it.each(['RNG6110', 'RNG6159', 'RNG9997', 'E1235', 'E6154', 'E1229', 'E6155', 'E1228'])(
    'is final as %s',
    async (code) => {
      harness.server.answer(json(400, errors(code)));
      expect(await sendDps()).toMatchObject({ kind: 'rejected', codes: [code] });
    },
  );

  it('is of the moment as RNG9999', async () => {
    harness.server.answer(json(400, errors('RNG9999')));
    expect(await sendDps()).toMatchObject({ kind: 'unknown', codes: ['RNG9999'] });
  });
});
