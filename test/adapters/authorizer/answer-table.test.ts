import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  answerTable,
  cataloguedCodes,
  type Subject,
  specialCodes,
} from '../../../src/adapters/authorizer/answer-table.js';
import { type Exchange, localReasons } from '../../../src/adapters/authorizer/exchange.js';
import { judgeLookup, judgeSend } from '../../../src/adapters/authorizer/judge-answer.js';
import { sha256Hex } from '../../../src/app/event-store/hashes.js';
import { isAuthorizerCode, OTHER_CODE } from '../../../src/domain/common/authorizer-code.js';
import { areaReasons } from '../../../src/domain/invoice/messages/areas.js';
import type { SendResult } from '../../../src/ports/authorizer.js';
import { gzipBase64 } from '../../../src/xml/packing.js';
import { accessKey, eventAround, issued, noteAround, otherAccessKey } from '../../support/fixture/sefin.js';
import { UNCATALOGUED_CODE } from '../../support/fixture/uncatalogued-code.js';
import {
  type Client,
  type ClientHarness,
  caller,
  errors,
  inAMinute,
  openClientHarness,
} from '../../support/harness/authorizer-client.js';
import { type Answer, html, json, raw } from '../../support/harness/authorizer-server.js';

let harness: ClientHarness;
beforeAll(async () => {
  harness = await openClientHarness();
});
afterAll(() => harness.close());

const send = (subject: Subject, client: Client): Promise<SendResult<unknown>> =>
  subject === 'dps'
    ? client.sendDps(caller, harness.dps.bytes, inAMinute)
    : client.sendCancellation(caller, accessKey, harness.cancellation.bytes, inAMinute);

const success = (): Record<Subject, object> => ({
  dps: issued(noteAround(harness.dps.bytes)),
  event: { eventoXmlGZipB64: gzipBase64(eventAround(harness.cancellation.bytes)) },
});

const at0 = '2026-08-28T14:37:08.1234567-03:00';

/** A final code of each subject. */
const FINAL = { dps: 'E0316', event: 'E0822' } as const;

type Expected = { kind: SendResult<unknown>['kind']; reason?: string; refused?: true; certificateRefused?: true };
type Case = { answer: (subject: Subject) => Answer; expected: Expected; outage?: true };

/** The members that every answer of the application begins with (docs/national-system.md#error-body). */
const envelope = { tipoAmbiente: 2, versaoAplicativo: 'SefinNacional_1.6.0', dataHoraProcessamento: at0 };

const refusal = (...codes: string[]) => ({ ...envelope, ...errors(...codes) });

/** A DPS that no send of this file carries. */
const OTHER_DPS = `DPS33045572${'9'.repeat(14)}00001${'1'.padStart(15, '0')}`;

const UNCATALOGUED: Expected = { kind: 'unknown', reason: 'uncatalogued_code' };

/** The authorizer's answer for each row of the table, over a real connection, and the result that the protocol gets. */
const answered: Readonly<Record<string, readonly Case[]>> = {
  broken: [
    {
      answer: () => (call) => call.socket.destroy(),
      expected: { kind: 'unknown', reason: 'ECONNRESET' },
      outage: true,
    },
  ],
  success: [
    { answer: (subject) => json(201, success()[subject]), expected: { kind: 'done' } },
    { answer: () => json(201, {}), expected: { kind: 'unknown', reason: 'success_not_ours_or_unreadable' } },
    {
      answer: () => html(200),
      expected: { kind: 'unknown', reason: 'success_not_ours_or_unreadable' },
      outage: true,
    },
  ],
  unexpected_status: [
    {
      answer: () => (_call, response) => response.writeHead(307, { location: '/elsewhere' }).end(),
      expected: { kind: 'unknown', reason: 'unexpected_status' },
      outage: true,
    },
  ],
  too_many_requests: [
    { answer: (s) => json(429, errors(FINAL[s])), expected: { kind: 'unknown', reason: 'too_many_requests' } },
    { answer: () => html(429), expected: { kind: 'unknown', reason: 'too_many_requests' } },
  ],
  no_json: [
    { answer: () => html(503), expected: { kind: 'unknown', reason: 'no_json' }, outage: true },
    { answer: () => html(404), expected: { kind: 'unknown', reason: 'no_json' }, outage: true },
    { answer: () => html(403), expected: { kind: 'unknown', reason: 'no_json', certificateRefused: true } },
    {
      answer: (s) => raw(400, JSON.stringify(errors(FINAL[s])), 'text/html; charset=utf-8'),
      expected: { kind: 'unknown', reason: 'no_json' },
      outage: true,
    },
    {
      answer: () => raw(403, JSON.stringify(errors('E1203')), 'text/html'),
      expected: { kind: 'unknown', reason: 'no_json' },
    },
  ],
  no_codes: [
    { answer: () => json(400, {}), expected: { kind: 'unknown', reason: 'no_codes' } },
    { answer: () => json(500, { message: 'x' }), expected: { kind: 'unknown', reason: 'no_codes' }, outage: true },
  ],
  already_there: [
    {
      answer: (s) => json(400, errors(FINAL[s], s === 'dps' ? 'E0014' : 'E0840')),
      expected: { kind: 'unknown', reason: 'already_there' },
    },
    {
      answer: (s) => json(500, errors(s === 'dps' ? 'E0014' : 'E0802')),
      expected: { kind: 'unknown', reason: 'already_there' },
    },
  ],
  transient_code: [
    { answer: () => json(403, errors('E1206')), expected: { kind: 'unknown', reason: 'transient_code' } },
    { answer: () => json(400, errors('RNG9999')), expected: { kind: 'unknown', reason: 'transient_code' } },
    { answer: () => json(500, errors('E999')), expected: { kind: 'unknown', reason: 'transient_code' }, outage: true },
    {
      answer: (s) => json(400, errors(FINAL[s], 'E1217')),
      expected: { kind: 'unknown', reason: 'transient_code' },
      outage: true,
    },
  ],
  code_not_final: [
    {
      answer: (s) => json(400, refusal(s === 'dps' ? 'E1268' : 'E1831')),
      expected: { kind: 'unknown', reason: 'code_not_final' },
    },
    {
      answer: (s) => json(400, refusal(FINAL[s], s === 'dps' ? 'E1268' : 'E1983')),
      expected: { kind: 'unknown', reason: 'code_not_final' },
    },
  ],
  stamp_ahead: [
    {
      answer: (s) => json(400, refusal(s === 'dps' ? 'E0008' : 'E1843')),
      expected: { kind: 'unknown', reason: 'stamp_ahead' },
    },
  ],
  other_document: [
    {
      answer: (s) => json(400, { ...refusal(FINAL[s]), idDPS: OTHER_DPS }),
      expected: { kind: 'unknown', reason: 'other_document' },
    },
    {
      answer: () => json(400, { ...refusal(UNCATALOGUED_CODE), idDps: OTHER_DPS }),
      expected: { kind: 'unknown', reason: 'other_document' },
    },
    // The same member in two spellings: one of them is enough.
    {
      answer: (s) => json(400, { ...refusal(FINAL[s]), idDPS: null, idDps: ` ${OTHER_DPS} ` }),
      expected: { kind: 'unknown', reason: 'other_document' },
    },
    {
      answer: () => json(403, { ...errors('E1203'), idDPS: OTHER_DPS }),
      expected: { kind: 'unknown', reason: 'other_document' },
    },
  ],
  uncatalogued_refusal: [
    {
      answer: () => json(400, refusal(UNCATALOGUED_CODE)),
      expected: { kind: 'unknown', reason: 'uncatalogued_refusal', refused: true },
    },
    {
      answer: (s) => json(400, refusal(FINAL[s], UNCATALOGUED_CODE)),
      expected: { kind: 'unknown', reason: 'uncatalogued_refusal', refused: true },
    },
    {
      answer: () => json(400, { ...envelope, erro: { codigo: UNCATALOGUED_CODE, descricao: 'texto' } }),
      expected: { kind: 'unknown', reason: 'uncatalogued_refusal', refused: true },
    },
  ],
  uncatalogued_code: [
    // Not the documented body, or not its status.
    { answer: () => json(400, errors(UNCATALOGUED_CODE)), expected: UNCATALOGUED },
    { answer: () => json(422, refusal(UNCATALOGUED_CODE)), expected: UNCATALOGUED },
    { answer: () => json(500, refusal(UNCATALOGUED_CODE)), expected: UNCATALOGUED },
    // Not only codes of the form of the rules.
    { answer: () => json(400, refusal(UNCATALOGUED_CODE, 'RNG7777')), expected: UNCATALOGUED },
    { answer: () => json(400, refusal('E77777')), expected: UNCATALOGUED },
    {
      answer: () => json(400, { ...envelope, erros: [{ Codigo: UNCATALOGUED_CODE }, { Descricao: 'texto' }] }),
      expected: UNCATALOGUED,
    },
    // Beside a code that is not about the document, or beside the document itself.
    { answer: () => json(400, refusal(UNCATALOGUED_CODE, 'E2404')), expected: UNCATALOGUED },
    { answer: () => json(400, refusal(UNCATALOGUED_CODE, 'E1203')), expected: UNCATALOGUED },
    { answer: (s) => json(400, { ...success()[s], ...refusal(UNCATALOGUED_CODE) }), expected: UNCATALOGUED },
  ],
  gateway_status: [408, 502, 504].flatMap((status) => [
    { answer: (s) => json(status, errors(FINAL[s])), expected: { kind: 'unknown', reason: 'gateway_status' } },
    { answer: () => json(status, errors('E1203')), expected: { kind: 'unknown', reason: 'gateway_status' } },
  ]),
  refused_with_document: [
    ...[400, 500].map(
      (status): Case => ({
        answer: (s) => json(status, { ...success()[s], ...errors(FINAL[s]) }),
        expected: { kind: 'unknown', reason: 'refused_with_document' },
      }),
    ),
    {
      answer: (s) => json(403, { ...success()[s], ...errors('E1203') }),
      expected: { kind: 'unknown', reason: 'refused_with_document' },
    },
  ],
  certificate_refused: [
    {
      answer: () => json(403, errors('E1203', 'E1205')),
      expected: { kind: 'not_sent', reason: 'certificate_refused', certificateRefused: true },
    },
  ],
  mixed_codes: [
    { answer: (s) => json(403, errors('E1203', FINAL[s])), expected: { kind: 'unknown', reason: 'mixed_codes' } },
  ],
  final_codes: [
    { answer: (s) => json(400, errors(FINAL[s])), expected: { kind: 'rejected' } },
    { answer: (s) => json(500, errors(FINAL[s])), expected: { kind: 'rejected' } },
    // A stamp that is ahead excuses no other rule.
    { answer: (s) => json(400, refusal(s === 'dps' ? 'E0008' : 'E1843', FINAL[s])), expected: { kind: 'rejected' } },
  ],
};

const rows = Object.entries(answered).flatMap(([row, cases]) =>
  (['dps', 'event'] as const).flatMap((subject) => cases.map((one, nth) => ({ row, subject, nth: nth + 1, ...one }))),
);

describe.each([500, 503])('a JSON answer with status %i', (status) => {
  it.each(['dps', 'event'] as const)('is judged by its codes to a %s, as one with 400 is', async (subject) => {
    const isDps = subject === 'dps';
    const passing = ['E1206', 'E1217', 'RNG9999', 'E999', isDps ? 'E1268' : 'E1983', isDps ? 'E0008' : 'E1843'];
    const said: readonly (readonly [codes: readonly string[], kind: Expected['kind']])[] = [
      ...passing.map((code) => [[code], 'unknown'] as const),
      [[FINAL[subject], 'E1217'], 'unknown'],
      [[isDps ? 'E0014' : 'E0840'], 'unknown'],
      [[UNCATALOGUED_CODE], 'unknown'],
      [[], 'unknown'],
      [['E1205'], 'not_sent'],
      [[FINAL[subject]], 'rejected'],
    ];
    for (const [codes, kind] of said) {
      harness.server.answer(json(status, refusal(...codes)));
      const result = await send(subject, harness.client);
      expect([codes, result.kind, 'refused' in result]).toEqual([codes, kind, false]);
    }
  });
});

describe('the table of answers', () => {
  it('has a test here for every row, in the order of the rows', () => {
    expect(answerTable.map(({ name }) => name)).toEqual(['not_handed', ...Object.keys(answered)]);
  });

  it('calls nothing final but codes of the catalogue, also without the rows before', () => {
    const last = answerTable.at(-1);
    expect(last).toMatchObject({ name: 'final_codes', is: 'rejected' });
    const isFinal = (...codes: string[]) => {
      const said = codes.map((code) => ({ code, text: '' }));
      return last?.when({ exchange: { kind: 'broken', reason: 'x' }, body: undefined, errors: said }, 'dps');
    };
    expect([isFinal(FINAL.dps), isFinal(), isFinal(FINAL.dps, UNCATALOGUED_CODE)]).toEqual([true, false, false]);
  });

  it('is tested with a code that is in no catalogue', () => {
    expect([areaReasons.has(UNCATALOGUED_CODE), specialCodes.has(UNCATALOGUED_CODE)]).toEqual([false, false]);
  });

  it('changes the codes that may be final only together with this test, because a text of the messages adds a code', () => {
    const codes = [...cataloguedCodes].sort();
    expect([codes.length, sha256Hex(codes.join(' '))]).toEqual([
      526,
      'e4b33603462a29a7f9763608565addee2f0c0bea0d53f0ffad5202c41acad4f3',
    ]);
  });

  it.each(rows)('row $row for a $subject, answer $nth', async ({ subject, answer, expected, outage }) => {
    harness.server.answer(answer(subject));
    const calls = harness.server.received.length;
    const result = await send(subject, harness.client);
    expect(result).toMatchObject(expected);
    expect('outage' in result).toBe(outage === true);
    expect('refused' in result).toBe(expected.refused === true);
    expect(harness.server.received).toHaveLength(calls + 1);
  });

  it.each(['dps', 'event'] as const)('row not_handed for a %s', async (subject) => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const address = closed.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    await new Promise((resolve) => closed.close(resolve));
    const client = harness.clientOf({ address: `https://127.0.0.1:${port}` });
    expect(await send(subject, client)).toEqual({
      kind: 'not_sent',
      reason: 'ECONNREFUSED',
      codes: [],
      outage: true,
    });
  });

  const FLOOD = 60;

  it.each(['E0014', 'RNG9999', UNCATALOGUED_CODE])('judges by the last of many items too: %s', async (last) => {
    harness.server.answer(json(400, errors(...Array.from({ length: FLOOD }, () => 'E0316'), last)));
    expect(await send('dps', harness.client)).toMatchObject({ kind: 'unknown', codes: expect.arrayContaining([last]) });
  });

  it('takes no text with blanks or control characters for a code', async () => {
    harness.server.answer(json(400, errors('E0316', 'E1\u001b[31m', 'E2\nX', 'E 3', 'É4')));
    expect(await send('dps', harness.client)).toMatchObject({ kind: 'unknown', codes: ['E0316'] });
  });

  it.each(['11144477735', '11222333000181', 'MARIA', 'ERR-01', '999', 'E123456'])(
    'stores %s in place of a code among the texts, and judges it as an unknown code',
    async (said) => {
      for (const status of [400, 500]) {
        harness.server.answer(json(status, { ...envelope, ...errors(said) }));
        const result = await send('dps', harness.client);
        expect(result).toEqual({
          kind: 'unknown',
          reason: 'uncatalogued_code',
          httpStatus: status,
          codes: [OTHER_CODE],
          texts: [`${said} texto ${said}`],
        });
      }
    },
  );

  it('stores every catalogued code as it is', () => {
    expect([...cataloguedCodes].filter((code) => !isAuthorizerCode(code))).toEqual([]);
    const said = ['E1206', 'E1217', 'RNG9999', 'E999', 'E2220', 'E2243', 'E2401', 'E2404', 'E2406'];
    expect(said.filter((code) => !isAuthorizerCode(code))).toEqual([]);
  });

  it('keeps what "this exists" says, however many other codes are recorded before it', async () => {
    const others = [...cataloguedCodes].filter((code) => code !== 'E0014').slice(0, FLOOD);
    harness.server.answer(json(400, errors(...others, 'E0014')));
    const result = await send('dps', harness.client);
    expect(result).toMatchObject({ kind: 'unknown', reason: 'already_there' });
    const codes = 'codes' in result ? result.codes : [];
    expect(codes).toContain('E0014');
    expect(codes.length).toBeLessThan(FLOOD);
  });

  it.each([
    ['dps', ['E1263', 'E1268', 'E1278']],
    ['event', ['E1278', 'E1802', 'E1831', 'E1983', 'E1986', 'E1991']],
  ] as const)(
    'takes no code for final that may pass or is about what the authorizer makes: %s %j',
    async (subject, codes) => {
      for (const code of codes) {
        harness.server.answer(json(400, refusal(code)));
        expect([code, await send(subject, harness.client)]).toMatchObject([code, { kind: 'unknown', codes: [code] }]);
      }
    },
  );

  it.each(['E1200', 'E1203', 'E1205', 'E1207', 'E1208', 'E1209'])('knows the channel code %s', async (code) => {
    harness.server.answer(json(403, errors(code)));
    expect(await send('dps', harness.client)).toMatchObject({
      kind: 'not_sent',
      certificateRefused: true,
      codes: [code],
    });
  });
});

describe('a refusal that shows a document', () => {
  const packed = 'H4sIAAAA';

  it.each([
    ['dps', { chaveAcesso: accessKey }],
    ['dps', { ChaveAcesso: accessKey }],
    ['dps', { chaveAcesso: null, ChaveAcesso: accessKey }],
    ['dps', { nfseXmlGZipB64: packed }],
    ['event', { eventoXmlGZipB64: packed }],
    ['event', { eventos: [{ tipoEvento: 101101, arquivoXml: packed }] }],
  ] as const)('is none for a %s: %j', async (subject, shown) => {
    harness.server.answer(json(400, { ...errors(FINAL[subject]), ...shown }));
    expect(await send(subject, harness.client)).toMatchObject({ kind: 'unknown', reason: 'refused_with_document' });
  });

  it.each([
    ['dps', { chaveAcesso: null, nfseXmlGZipB64: '' }],
    ['dps', { chaveAcesso: ' ', idDPS: 'DPS1', alertas: null }],
    ['dps', { chaveAcesso: [] }],
    ['event', { eventoXmlGZipB64: null, chaveAcesso: accessKey }],
    ['event', { eventos: [] }],
    ['event', { eventos: [{ tipoEvento: 101101, arquivoXml: null }] }],
  ] as const)('is one for a %s when nothing is in it: %j', async (subject, shown) => {
    harness.server.answer(json(400, { ...errors(FINAL[subject]), ...shown }));
    expect(await send(subject, harness.client)).toMatchObject({ kind: 'rejected' });
  });

  it.each([{ chaveAcesso: accessKey }, { nfseXmlGZipB64: packed }])(
    'proves no absence of a note: %j',
    async (shown) => {
      const inconclusive = { kind: 'inconclusive', reason: 'absent_with_document' };
      harness.server.answer(json(404, { ...errors('E2404'), ...shown }));
      expect(await harness.client.findByDps(caller, harness.dps.id)).toEqual(inconclusive);
      harness.server.answer(json(404, { ...errors('E2401'), ...shown }));
      expect(await harness.client.findByAccessKey(caller, accessKey)).toEqual(inconclusive);
    },
  );

  it('proves no absence of an event, and the key of its note alone is no event', async () => {
    harness.server.answer(json(404, { eventos: [{ tipoEvento: 101101, arquivoXml: packed }] }));
    expect(await harness.client.findCancellation(caller, accessKey)).toMatchObject({ kind: 'inconclusive' });
    harness.server.answer(json(404, { ...errors('E2401'), chaveAcesso: accessKey, eventos: [] }));
    expect(await harness.client.findCancellation(caller, accessKey)).toEqual({ kind: 'absent' });
  });

  it.each(['E1206', 'E1203', 'E1217'])(
    'proves no absence of an event beside %s, which answers no look-up',
    async (code) => {
      harness.server.answer(json(404, errors(code)));
      expect(await harness.client.findCancellation(caller, accessKey)).toMatchObject({ kind: 'inconclusive' });
    },
  );

  it('proves no absence as HTML, though its text is JSON', async () => {
    harness.server.answer(raw(404, JSON.stringify(errors('E2404')), 'text/html'));
    expect(await harness.client.findByDps(caller, harness.dps.id)).toMatchObject({
      kind: 'inconclusive',
      reason: 'no_json_404',
    });
  });
});

describe('an absence that names a document', () => {
  const lookUp = {
    dps: () => harness.client.findByDps(caller, harness.dps.id),
    event: () => harness.client.findCancellation(caller, accessKey),
  };
  const code = { dps: 'E2404', event: 'E2401' } as const;

  it.each([
    ['dps', { idDPS: OTHER_DPS }],
    ['dps', { idDps: ` ${OTHER_DPS} ` }],
    ['dps', { idDPS: null, idDps: OTHER_DPS }],
    ['event', { chaveAcesso: otherAccessKey }],
    ['event', { chaveAcesso: null, ChaveAcesso: ` ${otherAccessKey} ` }],
  ] as const)('proves nothing when it is another one than was asked for: %s %j', async (subject, named) => {
    harness.server.answer(json(404, { ...envelope, ...errors(code[subject]), ...named }));
    expect(await lookUp[subject]()).toEqual({ kind: 'inconclusive', reason: 'absent_other_document' });
  });

  it.each([
    ['dps', () => ({ idDPS: harness.dps.id })],
    ['dps', () => ({ idDPS: ` ${harness.dps.id} ` })],
    ['dps', () => ({ idDPS: 'DPS1', idDps: null })],
    ['dps', () => ({})],
    ['event', () => ({ chaveAcesso: ` ${accessKey} ` })],
    ['event', () => ({ chaveAcesso: accessKey.slice(0, -1) })],
    ['event', () => ({ idDPS: OTHER_DPS })],
  ] as const)('is an absence when it is the one asked for, or has no id: %s, case %#', async (subject, named) => {
    harness.server.answer(json(404, { ...envelope, ...errors(code[subject]), ...named() }));
    expect(await lookUp[subject]()).toEqual({ kind: 'absent' });
  });
});

describe('an outage', () => {
  const sendThat = (reason: string, kind: 'not_handed' | 'broken') =>
    judgeSend('dps', harness.dps.id, { kind, reason }, () => ({ reason: 'unread' }));

  it.each([
    ...localReasons,
    'EPROTO',
    'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
    'ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED',
    'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
  ])('is not what lies with one company: %s', (reason) => {
    expect(sendThat(reason, 'not_handed')).not.toHaveProperty('outage');
    expect(judgeLookup({ kind: 'broken', reason }, 'any')).not.toHaveProperty('outage');
  });

  it.each([
    'ENOTFOUND',
    'ETIMEDOUT',
    'connect_timeout',
    'timeout',
    'ECONNRESET',
    'CERT_HAS_EXPIRED',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ])('is what meets every company: %s', (reason) => {
    expect(sendThat(reason, 'broken')).toMatchObject({ kind: 'unknown', outage: true });
    expect(judgeLookup({ kind: 'not_handed', reason }, 'any')).toMatchObject({ outage: true });
  });

  it.each([
    ['a page with 404', 404, 'text/html', '<html>404 - File or directory not found.</html>'],
    ['an empty 404', 404, '', ''],
    ['a 422 of another form', 422, 'application/problem+json', '{"status":422}'],
    ['a page with 400', 400, 'text/html', '<html>'],
  ] as const)('is not heard by a look-up from %s, and by a send it is', (_what, status, contentType, text) => {
    const exchange = { kind: 'answered', status, contentType, body: Buffer.from(text) } as const;
    expect(judgeLookup(exchange, 'any')).toEqual({ kind: 'inconclusive', reason: `no_json_${status}` });
    expect(judgeSend('dps', harness.dps.id, exchange, () => ({ reason: 'unread' }))).toMatchObject({ outage: true });
  });

  it.each([
    ['a page with 200', 200],
    ['a redirection', 307],
    ['a page with 502', 502],
  ] as const)('is heard by a look-up from %s', (_what, status) => {
    const exchange = { kind: 'answered', status, contentType: 'text/html', body: Buffer.from('<html>') } as const;
    expect(judgeLookup(exchange, 'any')).toMatchObject({ outage: true });
  });

  it('is heard by a look-up too, and a proof of absence is none', () => {
    const heard = (status: number, contentType: string, text: string) =>
      judgeLookup({ kind: 'answered', status, contentType, body: Buffer.from(text) }, ['E2404']);
    expect(heard(503, 'text/html', '<html>')).toEqual({ kind: 'inconclusive', reason: 'no_json_503', outage: true });
    expect(heard(403, 'application/json', '{}')).toEqual({
      kind: 'inconclusive',
      reason: 'status_403',
      certificateRefused: true,
      mayBeNoActor: true,
    });
    expect(heard(404, 'application/json', '{"erro":{"codigo":"E2404"}}')).toEqual({ kind: 'absent' });
  });
});

describe('a certificate that the authorizer refuses', () => {
  const answered = (status: number, contentType: string, text: string) =>
    ({ kind: 'answered', status, contentType, body: Buffer.from(text) }) as const;
  const page = (status: number) => answered(status, 'text/html', '<html>403 - Forbidden</html>');
  const coded = (...codes: string[]) => answered(403, 'application/json', JSON.stringify(errors(...codes)));
  const judged = (exchange: Exchange) =>
    [judgeSend('dps', harness.dps.id, exchange, () => ({ reason: 'unread' })), judgeLookup(exchange, ['E2404'])].map(
      (answer) => 'certificateRefused' in answer && answer.certificateRefused,
    );

  it.each([
    ['a page with 403', page(403)],
    ['a page with 401', page(401)],
    ['a page with 496', page(496)],
    ['codes of the channel alone', coded('E1205', 'E1203')],
    ['a TLS alert about the certificate', { kind: 'not_handed', reason: 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA' }],
    ['such an alert after the first byte', { kind: 'broken', reason: 'ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED' }],
  ] as const)('is known by %s, to a send and a look-up alike', (_what, exchange) => {
    expect(judged(exchange)).toEqual([true, true]);
  });

  it.each([
    ['a page with 401', page(401), true],
    ['a page with 403', page(403), true],
    ['a 403 in JSON without codes', answered(403, 'application/json', '{}'), true],
    ['a page with 496', page(496), false],
    ['a code of the channel', coded('E1205'), false],
    ['a TLS alert', { kind: 'not_handed', reason: 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA' }, false],
  ] as const)('may be refused as no actor of the document, when a look-up meets %s', (_what, exchange, isDoubtful) => {
    const answer = judgeLookup(exchange, ['E2404']);
    expect(answer).toMatchObject({ certificateRefused: true });
    expect('mayBeNoActor' in answer).toBe(isDoubtful);
  });

  it.each([
    ['a page with 404', page(404)],
    ['a page with 503', page(503)],
    ['a page with 429', page(429)],
    ['a code of the document beside it', coded('E1205', 'E0312')],
    ['a revocation list that is out', coded('E1206')],
    ['a TLS alert about something else', { kind: 'not_handed', reason: 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR' }],
    ['a handshake without a reason', { kind: 'not_handed', reason: 'EPROTO' }],
    ['a connection that breaks', { kind: 'broken', reason: 'ECONNRESET' }],
    ['the absence of a document', answered(404, 'application/json', JSON.stringify(errors('E2404')))],
  ] as const)('is not concluded from %s', (_what, exchange) => {
    expect(judged(exchange)).toEqual([false, false]);
  });
});
