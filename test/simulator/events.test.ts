import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addSeconds } from '../../src/domain/common/time.js';
import { issueClientCertificate } from '../../src/simulator/authority.js';
import { gzipBase64 } from '../../src/xml/packing.js';
import { signDocument } from '../../src/xml/sign.js';
import {
  type CancelChanges,
  COMPANY,
  cancel,
  cancelBody,
  codesOf,
  issue,
  keyOf,
  ledger,
  OTHER_COMPANY,
  openSimulatorHarness,
  RIO,
  type SimulatorHarness,
  unpack,
} from '../support/harness/simulator.js';
import { schemaFaults } from '../support/schema.js';
import { verifySignature } from '../support/verify-signature.js';

describe('cancelling', () => {
  let harness: SimulatorHarness;
  let next = 0;
  beforeAll(async () => {
    harness = await openSimulatorHarness();
  });
  afterAll(() => harness.close());

  const freshKey = async () => {
    next += 1;
    return keyOf(await issue(harness, { number: next }));
  };

  it('registers the event: valid, signed, with the request as sent', async () => {
    const key = await freshKey();
    const body = cancelBody(harness, key);
    const answer = await harness.call('POST', `/nfse/${key}/eventos`, { body });
    expect(answer.status).toBe(201);
    const xml = unpack(answer.json.eventoXmlGZipB64);
    expect(schemaFaults('evento', xml)).toEqual([]);
    expect(verifySignature(xml, 'infEvento').ok).toBe(true);
    const request = unpack(body.pedidoRegistroEventoXmlGZipB64).toString();
    expect(xml.toString()).toContain(request.slice(request.indexOf('<pedRegEvento')));
    expect(xml.toString()).toContain(`Id="EVT${key}101101001"`);
    const entry = (await ledger(harness)).find(({ access_key }) => access_key === key);
    expect(entry).toMatchObject({ canceled_at: expect.any(String), environment: 'test' });
  });

  it('finds the event, its document encoded twice, and leaves the note as it was', async () => {
    const key = await freshKey();
    const before = (await harness.call('GET', `/nfse/${key}`)).json.nfseXmlGZipB64;
    const absent = await harness.call('GET', `/nfse/${key}/eventos/101101/1`);
    expect([absent.status, absent.contentType]).toEqual([404, 'application/json; charset=utf-8']);
    const registered = await cancel(harness, key);
    const found = await harness.call('GET', `/nfse/${key}/eventos/101101/1`);
    expect(found.status).toBe(200);
    const [event] = found.json.eventos as [Record<string, unknown>];
    expect(event).toMatchObject({ chaveAcesso: key, tipoEvento: 101101, numeroPedidoRegistroEvento: 1 });
    const inner = Buffer.from(String(event.arquivoXml), 'base64').toString('latin1');
    expect(inner).toBe(registered.json.eventoXmlGZipB64);
    expect((await harness.call('GET', `/nfse/${key}/eventos/101101/2`)).status).toBe(404);
    expect((await harness.call('GET', `/nfse/${key}`)).json.nfseXmlGZipB64).toBe(before);
  });

  it('refuses the second cancellation with E0840, also of two at once', async () => {
    const key = await freshKey();
    const answers = await Promise.all([cancel(harness, key), cancel(harness, key), cancel(harness, key)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    const refused = answers.find(({ status }) => status === 400);
    expect(refused?.json.erro).toEqual([{ codigo: 'E0840', descricao: expect.stringContaining('já está vinculado') }]);
  });

  const faulty: [string, CancelChanges][] = [
    ['E1845', { tpAmb: '1' }],
    ['E1827', { id: `PRE${'1'.repeat(50)}101101` }],
    ['E0812', { author: OTHER_COMPANY }],
  ];

  it.each(faulty)('refuses a faulty request with %s', async (code, changes) => {
    const key = await freshKey();
    expect(codesOf(await cancel(harness, key, changes))).toContain(code);
  });

  it('refuses an unknown note with E1831, one of the other environment with E0831', async () => {
    const key = await freshKey();
    const unknown = `${key.slice(0, -2)}${(Number(key.at(-2)) + 1) % 10}${key.at(-1)}`;
    expect(codesOf(await cancel(harness, unknown))).toEqual(['E1831']);
    const body = cancelBody(harness, key, { tpAmb: '1' });
    const elsewhere = await harness.call('POST', `/nfse/${key}/eventos`, { body, mode: 'live' });
    expect(codesOf(elsewhere)).toEqual(['E0831']);
  });

  it('refuses a request without or with a wrong signature, and one by who is not the emitter', async () => {
    const key = await freshKey();
    const post = (xml: string) => {
      const body = { pedidoRegistroEventoXmlGZipB64: gzipBase64(Buffer.from(xml)) };
      return harness.call('POST', `/nfse/${key}/eventos`, { body });
    };
    const signed = unpack(cancelBody(harness, key).pedidoRegistroEventoXmlGZipB64).toString();
    expect(codesOf(await post(signed.replace(/<Signature.*<\/Signature>/, '')))).toEqual(['E1989']);
    expect(codesOf(await post(signed.replace('incorretamente', 'erradamente')))).toEqual(['E1980']);
    expect(codesOf(await post(signed.replace('<cMotivo>1', '<cMotivo>7')))).toEqual(['E1235']);
    const other = await issueClientCertificate(harness.folder, {
      cnpj: OTHER_COMPANY,
      name: 'Outra',
      clock: harness.clock,
    });
    const foreign = { body: cancelBody(harness, key, { author: OTHER_COMPANY }, other) };
    expect(codesOf(await harness.call('POST', `/nfse/${key}/eventos`, foreign))).toEqual(['E0813']);
  });

  it('refuses e105102 with E1861, because only the authorizer registers it', async () => {
    const key = await freshKey();
    const { bytes } = signDocument(
      unpack(cancelBody(harness, key).pedidoRegistroEventoXmlGZipB64)
        .toString()
        .replace(/<\?xml[^>]*\?>|<Signature.*<\/Signature>/g, '')
        .replaceAll('101101', '105102')
        .replace('Cancelamento de NFS-e<', 'Cancelamento de NFS-e por Substituição<')
        .replace('<cMotivo>1<', '<cMotivo>99<')
        .replace('</xMotivo>', `</xMotivo><chSubstituta>${key}</chSubstituta>`),
      { ...harness.identity, signedElementName: 'infPedReg', id: `PRE${key}105102`, algorithm: 'c14n' },
    );
    const body = { pedidoRegistroEventoXmlGZipB64: gzipBase64(bytes) };
    expect(codesOf(await harness.call('POST', `/nfse/${key}/eventos`, { body }))).toEqual(['E1861']);
  });

  it('refuses after the window of the municipality with E0822', async () => {
    const key = await freshKey();
    await harness.control('POST', 'registry', { environment: 'test', municipality: { ibge: RIO, cancel_days: 2 } });
    await harness.control('POST', 'clock', { offset_s: 2 * 86_400 + 2 });
    expect(codesOf(await cancel(harness, key))).toEqual(['E0822']);
    await harness.control('POST', 'clock', { offset_s: 2 * 86_400 - 2 });
    expect((await cancel(harness, key)).status).toBe(201);
    await harness.control('POST', 'clock', { offset_s: 0 });
  });

  it('loses no event when it starts again', async () => {
    const key = await freshKey();
    await cancel(harness, key);
    harness.clock.at = addSeconds(harness.clock.at, 60);
    await harness.restart();
    expect(codesOf(await cancel(harness, key))).toEqual(['E0840']);
    expect((await harness.call('GET', `/nfse/${key}/eventos/101101/1`)).status).toBe(200);
    expect(COMPANY).toBe(key.slice(9, 23));
  });
});
