import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENT_TYPES } from '../../src/simulator/event/kinds.js';
import { parseXml } from '../../src/xml/document.js';
import { textAt } from '../../src/xml/parse.js';
import {
  address,
  COMPANY,
  CUSTOMER,
  cancel,
  codesOf,
  customer,
  issue,
  keyOf,
  ledger,
  OTHER_COMPANY,
  openSimulatorHarness,
  party,
  type SimulatorHarness,
  unpack,
} from '../support/harness/simulator.js';
import { schemaFaults } from '../support/schema.js';
import { verifySignature } from '../support/verify-signature.js';

describe('events of others', () => {
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
  const link = (key: string, event: object) =>
    harness.control('POST', 'events', { environment: 'test', access_key: key, ...event });
  const documentOf = async (key: string, type: string) => {
    const found = await harness.call('GET', `/nfse/${key}/eventos/${type}/1`);
    const [event] = found.json.eventos as [Record<string, unknown>];
    return unpack(Buffer.from(String(event.arquivoXml), 'base64').toString());
  };

  it.each(EVENT_TYPES)('puts a valid, signed %s on a note', async (type) => {
    const key = await freshKey();
    const isBlock = type === '305102' || type === '305103';
    const answer = await link(key, { type, ...(isBlock && { about: '101101' }) });
    expect([answer.status, answer.json]).toEqual([201, { ok: true }]);
    const xml = await documentOf(key, type);
    expect(schemaFaults('evento', xml)).toEqual([]);
    expect(verifySignature(xml, 'infEvento').ok).toBe(true);
  });

  it.each([
    ['203202', 'CNPJAutor', CUSTOMER, {}],
    ['203206', 'CPFAutor', '12345678909', { toma: customer('<CPF>12345678909</CPF>') }],
    ['204203', 'CNPJAutor', OTHER_COMPANY, { interm: party('interm', `<CNPJ>${OTHER_COMPANY}</CNPJ>`, address()) }],
    ['202201', 'CNPJAutor', COMPANY, {}],
    ['204207', 'CNPJAutor', COMPANY, {}],
  ] as const)('names the author of %s that the note names, as %s %s', async (type, element, author, changes) => {
    next += 1;
    const key = keyOf(await issue(harness, { ...changes, number: next }));
    expect((await link(key, { type })).status).toBe(201);
    const xml = await documentOf(key, type);
    expect(xml.toString()).toContain(`<${element}>${author}</${element}>`);
    expect(schemaFaults('evento', xml)).toEqual([]);
  });

  const bars: [boolean, string, object][] = [
    [true, 'Confirmação do Tomador', { type: '203202' }],
    [true, 'Confirmação Tácita', { type: '205204' }],
    [true, 'Solicitação de Análise Fiscal', { type: '101103' }],
    [true, 'Indeferido por Análise Fiscal', { type: '105105' }],
    [true, 'Anulação da Rejeição', { type: '205208' }],
    [true, 'Cancelamento de NFS-e por Ofício', { type: '305101' }],
    [true, 'Bloqueio', { type: '305102', about: '101101' }],
    [false, 'a rejection', { type: '203206' }],
    [false, 'a block of something else', { type: '305102', about: '105102' }],
  ];

  it.each(bars)('bars a cancellation with E0840, %s, for %s', async (isBar, name, event) => {
    const key = await freshKey();
    await link(key, event);
    const answer = await cancel(harness, key);
    expect(codesOf(answer)).toEqual(isBar ? ['E0840'] : []);
    if (isBar) expect(answer.json.erro).toMatchObject([{ descricao: expect.stringContaining(name) }]);
  });

  it('lets the cancellation pass when the block is released', async () => {
    const key = await freshKey();
    await link(key, { type: '305102', about: '101101' });
    await link(key, { type: '305103', about: '101101' });
    expect((await cancel(harness, key)).status).toBe(201);
  });

  it('bars the cancellation when the release came before the block', async () => {
    const key = await freshKey();
    await link(key, { type: '305103', about: '101101' });
    await link(key, { type: '305102', about: '101101' });
    expect(codesOf(await cancel(harness, key))).toEqual(['E0840']);
  });

  it('keeps them over a restart and shows them in the ledger', async () => {
    const key = await freshKey();
    await link(key, { type: '203202' });
    await harness.restart();
    expect(codesOf(await cancel(harness, key))).toEqual(['E0840']);
    const entry = (await ledger(harness)).find(({ access_key }) => access_key === key);
    expect(entry?.events).toEqual([{ type: '203202', registered_at: expect.stringMatching(/Z$/) }]);
    expect(entry?.canceled_at).toBeUndefined();
  });

  it('refuses an unknown note, a type twice, and a block that says not of what', async () => {
    const key = await freshKey();
    await link(key, { type: '203202' });
    const wrong: [object, string][] = [
      [{ type: '203202' }, 'type'],
      [{ type: '305102' }, 'about'],
      [{ type: '203206', about: '101101' }, 'about'],
      [{ type: '111111' }, 'type'],
      [{ type: '203206', access_key: '1'.repeat(50) }, 'access_key'],
    ];
    for (const [event, field] of wrong) {
      const { status, json } = await link(key, event);
      expect([status, json]).toEqual([400, { error: { field, message: expect.any(String) } }]);
    }
  });

  it('refuses to cancel above the most that the municipality allows with E0823', async () => {
    const key = await freshKey();
    const municipality = { ibge: '3304557', cancel_max_amount_in_cents: 149_999 };
    await harness.control('POST', 'registry', { environment: 'test', municipality });
    expect(codesOf(await cancel(harness, key))).toEqual(['E0823']);
    const more = { ...municipality, cancel_max_amount_in_cents: 150_000 };
    await harness.control('POST', 'registry', { environment: 'test', municipality: more });
    expect((await cancel(harness, key)).status).toBe(201);
  });
});

describe('substituting a note', () => {
  let harness: SimulatorHarness;
  beforeAll(async () => {
    harness = await openSimulatorHarness();
  });
  afterAll(() => harness.close());

  const subst = (key: string) =>
    `<subst><chSubstda>${key}</chSubstda><cMotivo>99</cMotivo><xMotivo>Dados do tomador errados</xMotivo></subst>`;

  it('issues the new note and puts e105102, which names it, on the old one', async () => {
    const old = keyOf(await issue(harness, { number: 1 }));
    const answer = await issue(harness, { number: 2, subst: subst(old) });
    expect(answer.status).toBe(201);
    expect(schemaFaults('NFSe', unpack(answer.json.nfseXmlGZipB64))).toEqual([]);
    const found = await harness.call('GET', `/nfse/${old}/eventos/105102/1`);
    const [event] = found.json.eventos as [Record<string, unknown>];
    const xml = unpack(Buffer.from(String(event.arquivoXml), 'base64').toString());
    expect(schemaFaults('evento', xml)).toEqual([]);
    const parsed = parseXml(xml);
    if (!parsed.ok) throw new Error(parsed.reason);
    const at = (name: string) => textAt(parsed.root, `evento/infEvento/pedRegEvento/infPedReg/e105102/${name}`);
    expect([at('chSubstituta'), at('cMotivo')]).toEqual([keyOf(answer), '99']);
    expect(codesOf(await cancel(harness, old))).toEqual(['E0840']);
  });

  it('holds after a restart: the old note cannot be substituted again', async () => {
    const old = keyOf(await issue(harness, { number: 3 }));
    expect((await issue(harness, { number: 4, subst: subst(old) })).status).toBe(201);
    await harness.restart();
    expect(codesOf(await issue(harness, { number: 5, subst: subst(old) }))).toEqual(['E0046']);
  });

  it('is refused after a refused fiscal analysis, as the cancellation is', async () => {
    const old = keyOf(await issue(harness, { number: 7 }));
    const link = (type: string) => harness.control('POST', 'events', { environment: 'test', access_key: old, type });
    await link('101103');
    await link('105105');
    expect(codesOf(await cancel(harness, old))).toEqual(['E0840']);
    expect(codesOf(await issue(harness, { number: 8, subst: subst(old) }))).toEqual(['E0068']);
  });

  it('tells a note of the other environment (E0065) from one that does not exist (E0044)', async () => {
    const live = keyOf(await issue(harness, { number: 1, tpAmb: '1' }, { mode: 'live' }));
    expect(codesOf(await issue(harness, { number: 6, subst: subst(live) }))).toEqual(['E0065']);
    const digit = live.slice(0, 49);
    expect(
      codesOf(await issue(harness, { number: 6, subst: subst(`${digit}${(Number(live.at(-1)) + 1) % 10}`) })),
    ).toEqual(['E0042', 'E0044']);
  });
});

describe('the list of all events of a note', () => {
  let harness: SimulatorHarness;
  beforeAll(async () => {
    harness = await openSimulatorHarness();
  });
  afterAll(() => harness.close());

  const link = (key: string, event: object) =>
    harness.control('POST', 'events', { environment: 'test', access_key: key, ...event });
  const list = (key: string) => harness.call('GET', `/nfse/${key}/eventos`);

  it('has each of them, the oldest first, with its document', async () => {
    const key = keyOf(await issue(harness, { number: 1 }));
    expect([(await list(key)).status, codesOf(await list(key))]).toEqual([404, ['E2401']]);
    await link(key, { type: '203206' });
    await cancel(harness, key);
    const { status, json } = await list(key);
    const events = json.eventos as { tipoEvento: number; arquivoXml: string }[];
    expect([status, events.map(({ tipoEvento }) => tipoEvento)]).toEqual([200, [203206, 101101]]);
    for (const { arquivoXml } of events)
      expect(schemaFaults('evento', unpack(Buffer.from(arquivoXml, 'base64').toString()))).toEqual([]);
  });

  it('is refused to who has no part in the note', async () => {
    const key = keyOf(await issue(harness, { number: 2 }));
    await link(key, { type: '101101' });
    const made = (await harness.control('POST', 'certificates', { cnpj: '99888777000161' })).json as Record<
      string,
      unknown
    >;
    const stranger = { privateKeyPem: String(made.private_key_pem), certificatePem: String(made.certificate_pem) };
    expect((await harness.call('GET', `/nfse/${key}/eventos`, { identity: stranger })).status).toBe(403);
  });

  it('names the note that a substitution elsewhere names, which goes with 105102 only', async () => {
    const key = keyOf(await issue(harness, { number: 3 }));
    const replacement = keyOf(await issue(harness, { number: 4 }));
    expect((await link(key, { type: '101101', replaced_by: replacement })).status).toBe(400);
    expect((await link(key, { type: '105102', replaced_by: replacement })).status).toBe(201);
    const { json } = await list(key);
    const [event] = json.eventos as [{ arquivoXml: string }];
    const parsed = parseXml(unpack(Buffer.from(event.arquivoXml, 'base64').toString()));
    if (!parsed.ok) throw new Error(parsed.reason);
    const path = 'evento/infEvento/pedRegEvento/infPedReg/e105102/chSubstituta';
    expect(textAt(parsed.root, path)).toBe(replacement);
  });
});
