import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { addSeconds } from '../../../src/domain/common/time.js';
import { gzipBase64 } from '../../../src/xml/packing.js';
import { accessKey, certificateFor, eventAround, issued, noteAround, signedDps } from '../../support/fixture/sefin.js';
import { UNCATALOGUED_CODE } from '../../support/fixture/uncatalogued-code.js';
import {
  CALL_LIMIT_MS,
  type Client,
  type ClientHarness,
  caller,
  errors,
  inAMinute,
  now,
  openClientHarness,
} from '../../support/harness/authorizer-client.js';
import { type Answer, html, json, unpacked } from '../../support/harness/authorizer-server.js';

let harness: ClientHarness;
let { authority, company, dps, cancellation, server, client } = {} as ClientHarness;

const clientOf = (changes: Parameters<ClientHarness['clientOf']>[0]): Client => harness.clientOf(changes);

beforeEach(async () => {
  harness = await openClientHarness();
  ({ authority, company, dps, cancellation, server, client } = harness);
});

afterEach(async () => {
  vi.useRealTimers();
  await harness.close();
});

describe('sendDps', () => {
  it('posts the packed bytes once under the company certificate and reads the note', async () => {
    const note = noteAround(dps.bytes);
    server.answer(json(201, issued(note)));
    const result = await client.sendDps(caller, dps.bytes, inAMinute);
    expect(result).toMatchObject({
      kind: 'done',
      result: {
        accessKey,
        nfseNumber: '1467',
        dpsId: dps.id,
        digest: dps.digest,
        xml: note,
        mode: 'test',
        provider: '12345678000195',
        content: { amount: '80.00', description: 'Aula avulsa de natação', customerDocument: '' },
      },
    });
    expect(server.received).toHaveLength(1);
    const [call] = server.received;
    expect(call).toMatchObject({ method: 'POST', path: '/SefinNacional/nfse', peer: 'EMPRESA:12345678000195' });
    expect(unpacked(call?.body ?? '', 'dpsXmlGZipB64')).toBe(dps.bytes.toString('utf8'));
  });

  it('reads PascalCase success bodies', async () => {
    server.answer(json(201, { NfseXmlGZipB64: gzipBase64(noteAround(dps.bytes)) }));
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toMatchObject({ kind: 'done' });
  });

  it.each([
    ['one final code', 400, errors('E0316'), 'rejected', ['E0316']],
    ['several final codes', 400, errors('E0120', 'E0316'), 'rejected', ['E0120', 'E0316']],
    ['a final code with a server status', 500, errors('E0316'), 'rejected', ['E0316']],
    ['the old schema code', 400, errors('RNG6110'), 'rejected', ['RNG6110']],
    ['a camelCase object', 400, { erro: { codigo: 'E0316', descricao: 'x' } }, 'rejected', ['E0316']],
    ['a camelCase list in erro', 400, { erro: [{ codigo: 'E0316' }] }, 'rejected', ['E0316']],
    ['PascalCase names', 400, { Erros: [{ Codigo: 'E0316', Parametros: null }] }, 'rejected', ['E0316']],
    ['a duplicate', 400, errors('E0014'), 'unknown', ['E0014']],
    ['a duplicate beside a final code', 400, errors('E0316', 'E0014'), 'unknown', ['E0316', 'E0014']],
    ['revocation list unreachable', 403, errors('E1206'), 'unknown', ['E1206']],
    ['maintenance', 503, errors('E1217'), 'unknown', ['E1217']],
    ['an uncatalogued fault', 400, errors('RNG9999'), 'unknown', ['RNG9999']],
    ['the other uncatalogued fault', 400, errors('E999'), 'unknown', ['E999']],
    ['a transient code beside a final one', 400, errors('E0316', 'E1206'), 'unknown', ['E0316', 'E1206']],
    ['a code that nobody has catalogued', 400, errors(UNCATALOGUED_CODE), 'unknown', [UNCATALOGUED_CODE]],
    ['a code of a look-up', 400, errors('E2404'), 'unknown', ['E2404']],
    ['an item without a code', 400, { erros: [{ Codigo: 'E0316' }, { Descricao: 'x' }] }, 'unknown', ['E0316']],
    ['a channel code beside a final one', 403, errors('E1203', 'E0316'), 'unknown', ['E1203', 'E0316']],
    ['too many requests, whatever the codes', 429, errors('E0316'), 'unknown', ['E0316']],
    ['JSON without codes', 500, { message: 'An error has occurred.' }, 'unknown', []],
    ['JSON that is no object', 400, ['E0316'], 'unknown', []],
    ['a success without a note', 201, { chaveAcesso: accessKey }, 'unknown', []],
    ['a success with garbage', 201, { nfseXmlGZipB64: 'AAAA' }, 'unknown', []],
    ['a success with codes', 201, errors('E0316'), 'unknown', ['E0316']],
  ] as const)('answers to %s', async (_title, status, body, kind, codes) => {
    server.answer(json(status, body));
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toMatchObject({ kind, codes, httpStatus: status });
    expect(server.received).toHaveLength(1);
  });

  it('keeps the wording, complement included', async () => {
    server.answer(json(400, { erros: [{ Codigo: 'E1235', Descricao: 'Falha', Complemento: 'The element' }] }));
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toMatchObject({
      kind: 'rejected',
      texts: ['Falha The element'],
    });
  });

  it.each(['E1200', 'E1203', 'E1205', 'E1207', 'E1208', 'E1209'])(
    'takes %s for a refused certificate',
    async (code) => {
      server.answer(json(403, errors(code)));
      expect(await client.sendDps(caller, dps.bytes, inAMinute)).toEqual({
        kind: 'not_sent',
        reason: 'certificate_refused',
        codes: [code],
        certificateRefused: true,
      });
    },
  );

  it.each([404, 403, 429, 500, 502, 503, 504])('draws no conclusion from HTML with %i', async (status) => {
    server.answer(html(status));
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toMatchObject({
      kind: 'unknown',
      codes: [],
      httpStatus: status,
    });
  });

  it('follows no redirect', async () => {
    server.answer((_call, response) => response.writeHead(307, { location: '/SefinNacional/other' }).end());
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toMatchObject({ kind: 'unknown', httpStatus: 307 });
    expect(server.received).toHaveLength(1);
  });

  it('draws no conclusion from a note with another DPS', async () => {
    server.answer(json(201, issued(noteAround((await signedDps(company, 2)).bytes))));
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toMatchObject({ kind: 'unknown' });
    const otherDigest = dps.bytes.toString('utf8').replace(/<DigestValue>..../, '<DigestValue>AAAA');
    server.answer(json(201, issued(noteAround(Buffer.from(otherDigest)))));
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toMatchObject({ kind: 'unknown' });
  });

  it('calls the outcome unknown when the connection is lost', async () => {
    server.answer((call) => call.socket.destroy());
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toMatchObject({ kind: 'unknown', codes: [] });
    expect(server.received).toHaveLength(1);
  });

  it('calls the outcome unknown when the answer breaks off', async () => {
    server.answer((call, response) => {
      response.writeHead(400, { 'content-type': 'application/json', 'content-length': 1000 });
      response.write(JSON.stringify(errors('E0316')), () => call.socket.destroy());
    });
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toMatchObject({ kind: 'unknown', codes: [] });
  });

  it('calls the outcome unknown when no answer comes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    // The deadline of the call has passed when the request arrives.
    server.answer(() => vi.advanceTimersByTime(CALL_LIMIT_MS));
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toEqual({
      kind: 'unknown',
      reason: 'timeout',
      codes: [],
      outage: true,
    });
  });

  it('stops reading an answer that is too large', async () => {
    server.answer((_call, response) => {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(Buffer.alloc(3 * 1024 * 1024, 0x20));
    });
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toMatchObject({
      kind: 'unknown',
      reason: 'response_too_large',
    });
  });

  it('refuses a packed document that grows too large, although it begins with a note', async () => {
    const note = noteAround(dps.bytes);
    const padded = (bytes: number) => gzipBase64(Buffer.concat([note, Buffer.alloc(bytes, ' ')]));
    server.answer(json(201, { nfseXmlGZipB64: padded(1000) }));
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toMatchObject({ kind: 'done' });
    server.answer(json(201, { nfseXmlGZipB64: padded(50 * 1024 * 1024) }));
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toMatchObject({ kind: 'unknown' });
  });

  it('keeps the connection, and calls the outcome unknown when a kept connection dies', async () => {
    server.answer(json(400, errors('E0316')));
    await client.sendDps(caller, dps.bytes, inAMinute);
    await client.sendDps(caller, dps.bytes, inAMinute);
    const [first, second] = server.received;
    expect(second?.socket).toBe(first?.socket);
    server.answer((call) => call.socket.destroy());
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toMatchObject({ kind: 'unknown' });
  });

  it('never uses the connection of another company', async () => {
    const other = { ...certificateFor(authority, now), cnpj: '98765432000198' };
    client = clientOf({
      certificateOf: ({ companyId }) => Promise.resolve(companyId === caller.companyId ? company : other),
    });
    server.answer(json(400, errors('E0316')));
    await client.sendDps(caller, dps.bytes, inAMinute);
    await client.sendDps({ ...caller, companyId: other.cnpj }, dps.bytes, inAMinute);
    await client.sendDps(caller, dps.bytes, inAMinute);
    const [first, second, third] = server.received.map(({ socket }) => socket);
    expect(second).not.toBe(first);
    expect(third).toBe(first);
  });

  it('says not sent when no server listens', async () => {
    await server.close();
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toEqual({
      kind: 'not_sent',
      reason: 'ECONNREFUSED',
      codes: [],
      outage: true,
    });
  });

  it('says not sent when the handshake never ends', async () => {
    const silent = createServer();
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    client = clientOf({ address, timeoutMs: 300 });
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toMatchObject({ kind: 'not_sent', reason: 'timeout' });
    silent.close();
  });

  it('says not sent when the connection ends within the handshake', async () => {
    const abrupt = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => abrupt.listen(0, '127.0.0.1', resolve));
    const address = `https://127.0.0.1:${(abrupt.address() as AddressInfo).port}`;
    client = clientOf({ address });
    const result = await client.sendDps(caller, dps.bytes, inAMinute);
    expect(result).toMatchObject({ kind: 'not_sent' });
    expect(result).not.toHaveProperty('certificateRefused');
    abrupt.close();
  });

  it('sends nothing to a server that it does not trust', async () => {
    client = clientOf({ trustRootsPem: [] });
    const result = await client.sendDps(caller, dps.bytes, inAMinute);
    expect(result).toMatchObject({ kind: 'not_sent' });
    expect(result).not.toHaveProperty('certificateRefused');
    expect(server.received).toHaveLength(0);
  });

  it.each([
    ['certificate_missing', () => Promise.resolve(undefined)],
    ['certificate_unread', () => Promise.reject(new Error('vault'))],
  ])('sends nothing without a certificate: %s', async (reason, certificateOf) => {
    client = clientOf({ certificateOf });
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toMatchObject({ kind: 'not_sent', reason });
  });

  it('sends nothing after the deadline of the attempt, however long the certificate took', async () => {
    let clock = now;
    const late = async () => {
      clock = addSeconds(now, 60);
      return company;
    };
    client = clientOf({ now: () => clock, certificateOf: late });
    const result = await client.sendDps(caller, dps.bytes, inAMinute);
    expect(result).toMatchObject({ kind: 'not_sent', reason: 'deadline_passed' });
    expect(server.received).toHaveLength(0);
  });

  it('is over at the deadline of the attempt when that comes before its own', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    server.answer((call, response) => {
      vi.advanceTimersByTime(300);
      json(400, errors('E0316'))(call, response);
    });
    const result = await client.sendDps(caller, dps.bytes, addSeconds(now, 0.3));
    expect(result).toEqual({ kind: 'unknown', reason: 'timeout', codes: [], outage: true });
  });

  it('sends nothing with an expired certificate', async () => {
    client = clientOf({ now: () => company.notAfter });
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toMatchObject({
      kind: 'not_sent',
      reason: 'certificate_expired',
    });
    expect(server.received).toHaveLength(0);
  });
});

describe('findByDps', () => {
  const present = (note: Buffer) => {
    server.answer((call, response) =>
      call.path.includes('/dps/')
        ? json(200, { idDps: dps.id, chaveAcesso: accessKey })(call, response)
        : json(200, { chaveAcesso: accessKey, nfseXmlGZipB64: gzipBase64(note) })(call, response),
    );
  };

  it('finds the note by two look-ups', async () => {
    present(noteAround(dps.bytes));
    const result = await client.findByDps(caller, dps.id);
    expect(result).toMatchObject({ kind: 'found', found: { accessKey, digest: dps.digest } });
    expect(server.received.map(({ path }) => path)).toEqual([
      `/SefinNacional/dps/${dps.id}`,
      `/SefinNacional/nfse/${accessKey}`,
    ]);
  });

  it('finds a note under our id with a foreign digest, for the caller to judge', async () => {
    const foreign = dps.bytes.toString('utf8').replace(/<DigestValue>..../, '<DigestValue>AAAA');
    present(noteAround(Buffer.from(foreign)));
    expect(await client.findByDps(caller, dps.id)).toMatchObject({ kind: 'found' });
  });

  it('refuses a note of another DPS', async () => {
    present(noteAround((await signedDps(company, 2)).bytes));
    expect(await client.findByDps(caller, dps.id)).toMatchObject({ kind: 'inconclusive' });
  });

  it('takes JSON 404 with E2404 for absence', async () => {
    server.answer(json(404, { tipoAmbiente: 0, erro: { codigo: 'E2404', descricao: 'x' } }));
    expect(await client.findByDps(caller, dps.id)).toEqual({ kind: 'absent' });
  });

  it.each([
    ['HTML 404', html(404)],
    ['JSON 404 without a code', json(404, {})],
    ['JSON 404 with another code', json(404, { erro: { codigo: 'E2401' } })],
    ['JSON 404 with more codes', json(404, errors('E2404', 'E1217'))],
    ['E2404 with another status', json(400, { erro: { codigo: 'E2404' } })],
    ['401', json(401, {})],
    ['403', json(403, errors('E1203'))],
    ['429', html(429)],
    ['500', json(500, { erro: { codigo: 'E2404' } })],
    ['a key that is none', json(200, { chaveAcesso: '123' })],
    ['a missing key', json(200, { idDps: 'x' })],
  ] as const)('concludes nothing from %s', async (_title, answer) => {
    server.answer(answer);
    const result = await client.findByDps(caller, dps.id);
    expect(result).toMatchObject({ kind: 'inconclusive' });
    expect(result).not.toHaveProperty('exists');
  });

  it('is inconclusive when the access key is found and the note is not', async () => {
    server.answer((call, response) =>
      call.path.includes('/dps/')
        ? json(200, { chaveAcesso: accessKey })(call, response)
        : json(404, { erro: { codigo: 'E2401' } })(call, response),
    );
    expect(await client.findByDps(caller, dps.id)).toMatchObject({ kind: 'inconclusive', exists: true });
    expect(await client.findByAccessKey(caller, accessKey)).toEqual({ kind: 'absent' });
  });

  it('says that the document exists also when the key leads to the note of another DPS', async () => {
    const foreign = noteAround((await signedDps(company, 2)).bytes);
    server.answer((call, response) =>
      json(200, call.path.includes('/dps/') ? { chaveAcesso: accessKey } : issued(foreign))(call, response),
    );
    expect(await client.findByDps(caller, dps.id)).toEqual({
      kind: 'inconclusive',
      reason: 'not_ours_or_unreadable',
      exists: true,
    });
  });

  it('ends both calls at the time limit of its caller', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const until = addSeconds(now, 2);
    server.answer(() => vi.advanceTimersByTime(2_000));
    expect(await client.findByDps(caller, dps.id, until)).toMatchObject({ kind: 'inconclusive', reason: 'timeout' });
    expect(await client.findCancellation(caller, accessKey, until)).toMatchObject({ reason: 'timeout' });
    vi.useRealTimers();
    let clock = now;
    client.close();
    client = clientOf({ now: () => clock });
    server.answer((call, response) => {
      clock = until;
      json(200, { idDps: dps.id, chaveAcesso: accessKey })(call, response);
    });
    const asked = server.received.length;
    expect(await client.findByDps(caller, dps.id, until)).toMatchObject({ kind: 'inconclusive' });
    expect(server.received).toHaveLength(asked + 1);
  });

  it('leaves sends their connections while no look-up is answered', async () => {
    server.answer((call, response) => {
      if (call.path.endsWith('/nfse')) json(400, errors('E0316'))(call, response);
    });
    client.close();
    client = clientOf({ timeoutMs: 20_000 });
    const lookUps = Array.from({ length: 16 }, () => client.findByDps(caller, dps.id));
    await expect.poll(() => server.received).toHaveLength(16);
    expect(await client.sendDps(caller, dps.bytes, inAMinute)).toMatchObject({ kind: 'rejected' });
    client.close();
    await Promise.all(lookUps);
  });

  it('is inconclusive when no server listens', async () => {
    await server.close();
    expect(await client.findByDps(caller, dps.id)).toEqual({
      kind: 'inconclusive',
      reason: 'ECONNREFUSED',
      outage: true,
    });
  });
});

describe('cancellation', () => {
  const event = () => gzipBase64(eventAround(cancellation.bytes));
  const twice = (packed: string) => Buffer.from(packed).toString('base64');

  it('posts the request and reads the event', async () => {
    server.answer(json(201, { eventoXmlGZipB64: event() }));
    const result = await client.sendCancellation(caller, accessKey, cancellation.bytes, inAMinute);
    expect(result).toMatchObject({
      kind: 'done',
      result: {
        requestId: cancellation.id,
        digest: cancellation.digest,
        registeredAt: '2026-03-04T16:34:50.000Z',
      },
    });
    const [call] = server.received;
    expect(call?.path).toBe(`/SefinNacional/nfse/${accessKey}/eventos`);
    const sent = unpacked(call?.body ?? '', 'pedidoRegistroEventoXmlGZipB64');
    expect(sent).toBe(cancellation.bytes.toString('utf8'));
  });

  it.each([
    ['E0822', 'rejected'],
    ['E0840', 'unknown'],
    ['E0802', 'unknown'],
    ['E1805', 'unknown'],
    ['E1217', 'unknown'],
  ])('answers to %s with %s', async (code, kind) => {
    server.answer(json(400, { erro: [{ codigo: code, descricao: 'x' }] }));
    const result = await client.sendCancellation(caller, accessKey, cancellation.bytes, inAMinute);
    expect(result).toMatchObject({ kind, codes: [code] });
  });

  it('draws no conclusion from an event with another request', async () => {
    const other = cancellation.bytes.toString('utf8').replace(/<DigestValue>..../, '<DigestValue>AAAA');
    server.answer(json(201, { eventoXmlGZipB64: gzipBase64(eventAround(Buffer.from(other))) }));
    expect(await client.sendCancellation(caller, accessKey, cancellation.bytes, inAMinute)).toMatchObject({
      kind: 'unknown',
    });
  });

  it.each([
    ['the live shape, number', () => ({ eventos: [{ tipoEvento: 101101, arquivoXml: twice(event()) }] })],
    ['the live shape, text', () => ({ eventos: [{ tipoEvento: '101101', arquivoXml: twice(event()) }] })],
    ['the live shape, base64 once', () => ({ eventos: [{ tipoEvento: 101101, arquivoXml: event() }] })],
    ['the shape of the Swagger', () => ({ eventoXmlGZipB64: event() })],
    ['PascalCase', () => ({ Eventos: [{ TipoEvento: 101101, ArquivoXml: twice(event()) }] })],
  ])('looks the event up in %s', async (_title, body) => {
    server.answer(json(200, body()));
    const result = await client.findCancellation(caller, accessKey);
    expect(result).toMatchObject({ kind: 'found', found: { requestId: cancellation.id } });
    expect(server.received[0]?.path).toBe(`/SefinNacional/nfse/${accessKey}/eventos/101101/1`);
  });

  const item = { descricao: 'Evento não encontrado.' };

  it.each([
    errors('E2401'),
    { erro: { codigo: 'E2405' } },
    { tipoAmbiente: 2, erro: item },
    { dataHoraProcessamento: '2026-08-28T14:37:08.1234567-03:00', erros: [item] },
  ])('takes JSON 404 %j for absence', async (body) => {
    server.answer(json(404, body));
    expect(await client.findCancellation(caller, accessKey)).toEqual({ kind: 'absent' });
  });

  it.each([
    ['no member', {}],
    ['the words of the framework', { Message: 'No HTTP resource was found that matches the request URI.' }],
    ['the words of a gateway', { message: 'no Route matched with those values' }],
    ['an error of another form', { erro: { codigo: 'NotFound', mensagem: 'x' } }],
    ['an error without a code', { erro: item }],
    ['documented members without an error', { tipoAmbiente: 2, dataHoraProcessamento: 'x', erro: null }],
  ])('takes JSON 404 with %s for no absence, of our event or of another type', async (_title, body) => {
    const inconclusive = { kind: 'inconclusive', reason: 'status_404' };
    server.answer(json(404, body));
    expect(await client.findCancellation(caller, accessKey)).toEqual(inconclusive);
    others(html(405), json(404, body));
    expect(await client.findCancellation(caller, accessKey)).toEqual(inconclusive);
  });

  const NO_EVENT = json(404, errors('E2401'));
  const base = `/SefinNacional/nfse/${accessKey}/eventos`;
  const paths = () => server.received.map(({ path }) => path.slice(base.length));
  /** No event of ours; the list and the look-ups of other types as given. */
  const others = (list: Answer, byType: Answer) =>
    server.answer((call, response) => {
      if (call.path === base) return list(call, response);
      const answer = call.path.endsWith('/101101/1') ? NO_EVENT : byType;
      return answer(call, response);
    });

  it.each([
    ['a list of other events', json(200, { eventos: [{ tipoEvento: 203202, arquivoXml: 'AAAA' }] })],
    ['an empty list', json(200, { eventos: [] })],
  ])('takes %s for absence, once our own is absent', async (_title, list) => {
    others(list, html(500));
    expect(await client.findCancellation(caller, accessKey)).toEqual({ kind: 'absent' });
    expect(paths()).toEqual(['/101101/1', '']);
  });

  it.each([
    ['405', html(405)],
    ['an HTML 404', html(404)],
    ['a JSON 404', json(404, { message: 'No HTTP resource was found' })],
    ['a JSON 404 with a code', json(404, errors('E2401'))],
    ['501', html(501)],
    ['JSON without a list', json(200, {})],
  ])('asks for each type that cancels a note where the list is answered with %s', async (_title, list) => {
    others(list, NO_EVENT);
    expect(await client.findCancellation(caller, accessKey)).toEqual({ kind: 'absent' });
    expect(paths()).toEqual(['/101101/1', '', '/105102/1', '/105104/1', '/305101/1']);
    expect(await client.findCancellation(caller, accessKey)).toEqual({ kind: 'absent' });
    expect(paths().slice(5)).toEqual(['/101101/1', '/105102/1', '/105104/1', '/305101/1']);
  });

  it.each([
    ['the list fails', html(503), NO_EVENT],
    ['the list refuses the caller', html(403), NO_EVENT],
    ['the list is asked too often', json(429, {}), NO_EVENT],
    ['a type has no answer', html(405), html(404)],
    ['the listed event is unreadable', json(200, { eventos: [{ tipoEvento: 105102, arquivoXml: 'AAAA' }] }), html(500)],
    ['the listed event has no document', json(200, { eventos: [{ tipoEvento: '305101' }] }), html(500)],
  ])('concludes nothing when %s', async (_title, list, byType) => {
    others(list, byType);
    expect(await client.findCancellation(caller, accessKey)).toMatchObject({ kind: 'inconclusive' });
  });

  it.each([
    ['HTML 404', html(404)],
    ['a list without the event', json(200, { eventos: [] })],
    ['another event', json(200, { eventos: [{ tipoEvento: 105102, arquivoXml: 'AAAA' }] })],
    ['a 404 of the moment', json(404, errors('E1217'))],
    ['422', json(422, {})],
  ] as const)('concludes nothing from %s', async (_title, answer) => {
    server.answer(answer);
    expect(await client.findCancellation(caller, accessKey)).toMatchObject({ kind: 'inconclusive' });
  });
});
