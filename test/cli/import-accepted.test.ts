import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { readImportedNote } from '../../src/adapters/authorizer/documents.js';
import {
  invoiceIdOfAccessKey,
  invoiceIdOfKey,
  invoiceIdOfReference,
  sha256Hex,
} from '../../src/app/event-store/hashes.js';
import type { Repeats } from '../../src/app/recovery/accepted-again.js';
import { issueCertificate } from '../../src/certificates/issue-certificate.js';
import { doctorCommand } from '../../src/cli/commands/doctor.js';
import type { AccessKey } from '../../src/domain/common/access-key.js';
import { dpsStream, type InvoiceId, invoiceStream } from '../../src/domain/common/ids.js';
import type { InvoiceEvent, InvoiceEventData } from '../../src/domain/invoice/events.js';
import {
  accepted,
  attempted,
  authorized,
  authorizedData,
  conflictFound,
  imported,
  notSent,
  provenAbsent,
  unknown,
} from '../support/fixture/invoice.js';
import { accessKey, dpsId, noteAround, signedDocuments, unsignedDps } from '../support/fixture/xml-documents.js';
import { appendTo } from '../support/harness/event-store.js';
import { importLine, noteKey, openImporter } from '../support/harness/importer.js';
import type { Operator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const CNPJ = '12345678000195';
const AT = '2026-11-21T12:00:00.000Z';

describeWithPostgres('an import of the note of an accepted invoice of which nothing came', () => {
  let operator: Operator;

  beforeAll(async () => {
    operator = await openImporter(CNPJ, AT);
  });
  afterAll(() => operator.close());

  const append = (stream: string, ...events: Parameters<typeof appendTo>[2]) =>
    appendTo(operator.session.store, stream, events, AT);
  const accept = (
    invoiceId: InvoiceId,
    overrides: Partial<InvoiceEventData<'InvoiceAccepted'>>,
    ...more: readonly InvoiceEvent[]
  ) => append(invoiceStream('live', CNPJ, invoiceId), accepted({ invoiceId, ...overrides }), ...more);
  const line = (fields: object) => importLine(CNPJ, AT, { amount_in_cents: 150_000, ...fields });
  const importing = async (fields: object) => {
    const file = join(operator.folder, 'note.ndjson');
    await writeFile(file, JSON.stringify(line(fields)));
    const { exit, out } = await operator.run('invoice', 'import', file, '--json');
    return { exit, ...(JSON.parse(out) as { imported?: number; already?: number; problems?: string[] }) };
  };
  const eventsOf = async (id: InvoiceId) =>
    (await operator.session.log.read(invoiceStream('live', CNPJ, id))).map(({ type, data }) => ({ type, data }));
  const done = { exit: 0, imported: 1, already: 0, warnings: [] };
  const again = { exit: 0, imported: 0, already: 1, warnings: [] };

  const give = (key: string, invoiceId: InvoiceId) =>
    operator.session.importedKeys.take(
      { mode: 'live', companyId: CNPJ, keyHash: sha256Hex(key), invoiceId, acceptedAt: AT },
      AT,
    );
  const mark = (key: string) => ({
    idempotency: { keyHash: sha256Hex(key), bodyHash: 'hmac:1:m1.0123456789abcdef:a' },
  });
  const reservationOf = (n: number) => eventsOf(invoiceIdOfAccessKey('live', CNPJ, noteKey(CNPJ, n)));
  const NOT_THERE = ', which is not on record, because an import ended early or is at work';
  const SAME_SALE =
    'where the line is of the same sale, give it with that id, and without idempotency_key; else without reference and idempotency_key';

  it('records the note as its outcome by its id, with all that the line has of the content', async () => {
    const id = '22222222-2222-4222-8222-222222222222';
    await accept(id, {});
    const note = {
      id,
      access_key: noteKey(CNPJ, 2),
      description: 'Desenvolvimento de sistema',
      customer: { document: '11111111000191' },
      service_code: '010101',
    };
    expect(await importing(note)).toEqual(done);
    expect(await eventsOf(id)).toMatchObject([
      { type: 'InvoiceAccepted' },
      {
        type: 'Authorized',
        data: { attempt: 1, attemptLost: true, accessKey: noteKey(CNPJ, 2), nfseNumber: '2', authorizedAt: AT },
      },
    ]);
    expect(await reservationOf(2)).toMatchObject([{ type: 'ReferenceTaken', data: { invoiceId: id } }]);
    expect(await importing(note)).toEqual(again);
    expect(await eventsOf(id)).toHaveLength(2);
    expect(await importing({ ...note, state: 'canceled', canceled_at: AT })).toMatchObject({
      problems: [
        `line 1: nfse_${id} has this note on record: give the note with the state issued, also when it was canceled since`,
      ],
    });
  });

  const byReference = invoiceIdOfReference('live', CNPJ, 'venda-1');
  const keyed = invoiceIdOfKey('live', CNPJ, sha256Hex('key-3'), 0);
  const withBoth = invoiceIdOfReference('live', CNPJ, 'venda-4');

  it.each<[string, number, InvoiceId, Partial<InvoiceEventData<'InvoiceAccepted'>>, object, string]>([
    [
      'its reference',
      1,
      byReference,
      { reference: 'venda-1' },
      { reference: 'venda-1' },
      `nfse_${byReference} was accepted with its reference or idempotency_key and waits to be sent: ${SAME_SALE}`,
    ],
    [
      'its key',
      3,
      keyed,
      mark('key-3'),
      { idempotency_key: 'key-3' },
      `nfse_${keyed} was accepted with its reference or idempotency_key and waits to be sent: ${SAME_SALE}`,
    ],
    [
      'the key of a request with a reference',
      4,
      withBoth,
      { reference: 'venda-4' },
      { idempotency_key: 'key-4' },
      `idempotency_key is held by nfse_${withBoth}, which waits to be sent: ${SAME_SALE}`,
    ],
  ])('refuses a line that leads to it by %s alone', async (_by, n, id, overrides, fields, problem) => {
    await accept(id, overrides);
    await give(`key-${n}`, id);
    const { problems } = await importing({ access_key: noteKey(CNPJ, n), ...fields });
    expect(problems).toEqual([`line 1: ${problem}`]);
    expect(await eventsOf(id)).toHaveLength(1);
    const { reference } = overrides;
    const named = { id, access_key: noteKey(CNPJ, n), reference };
    expect(await importing(named)).toEqual(done);
    expect(await importing(named)).toEqual(again);
  });

  it('takes the line of an older sale whose key was used again, once the day of its own request is over', async () => {
    const old = { created_at: '2026-11-18T12:00:00.000Z', issued_at: '2026-11-18T12:00:00.000Z' };
    const id = invoiceIdOfReference('live', CNPJ, 'dez');
    await accept(id, { ...mark('mensal'), reference: 'dez' });
    await give('mensal', id);
    const line = { access_key: noteKey(CNPJ, 20), idempotency_key: 'mensal', ...old };
    expect(await importing(line)).toEqual(done);
    expect(await importing(line)).toEqual(again);
    expect(await eventsOf(id)).toHaveLength(1);
    const owner = { mode: 'live', companyId: CNPJ, keyHash: sha256Hex('mensal') } as const;
    expect(await operator.session.importedKeys.holderOf(owner, AT)).toBe(id);
  });

  it('records nothing of the xml_file, whose signature nothing has checked', async () => {
    const id = '99999999-9999-4999-8999-999999999999';
    const xml = noteAround(unsignedDps).replace(accessKey, noteKey(CNPJ, 30));
    const note = readImportedNote(Buffer.from(xml));
    const mode = note?.mode ?? 'live';
    const stream = invoiceStream(mode, CNPJ, id);
    await append(stream, accepted({ mode, invoiceId: id }));
    await writeFile(join(operator.folder, 'note.xml'), xml);
    expect(await importing({ id, mode, xml_file: 'note.xml', issued_at: undefined })).toEqual({
      ...done,
      warnings: ['line 1: xml_file has no signature, so nothing shows that it is what the authorizer made'],
    });
    const { type, data } = (await operator.session.log.read(stream))[1] ?? {};
    expect({ type, data }).toMatchObject({ type: 'Authorized', data: { accessKey: note?.accessKey } });
    expect(Object.keys(data ?? {})).not.toEqual(expect.arrayContaining([expect.stringMatching(/^nfse(Xml|Sha)/)]));
  });

  it('takes the note whose number was given again to a sale of the same amount, which has no answer yet', async () => {
    const [id, other] = ['11111111-1111-4111-8111-111111111131', '11111111-1111-4111-8111-111111111132'];
    const { NFSe } = signedDocuments(issueCertificate({ subjectName: 'Teste', validDays: 1, now: AT }));
    await writeFile(join(operator.folder, 'lost.xml'), NFSe);
    const streamOf = (invoiceId: InvoiceId) => invoiceStream('test', CNPJ, invoiceId);
    const sent = attempted(1, 10);
    await append(streamOf(id), accepted({ mode: 'test', invoiceId: id }));
    await append(dpsStream('test', CNPJ, '1'), {
      type: 'DpsNumberAllocated',
      data: { invoiceId: other, number: 1, nextNumber: 2, at: AT },
    });
    await append(streamOf(other), accepted({ mode: 'test', invoiceId: other }), {
      ...sent,
      data: { ...sent.data, number: 1, dpsId },
    });
    const line = { id, mode: 'test', xml_file: 'lost.xml', issued_at: undefined };
    expect(await importing(line)).toEqual(done);
    expect(await operator.session.log.read(streamOf(id))).toMatchObject([
      { type: 'InvoiceAccepted' },
      { type: 'Authorized', data: { accessKey } },
    ]);
  });

  it('attaches no note when an issuer sends the invoice first, and frees the access key by its outcome', async () => {
    const id = '77777777-7777-4777-8777-777777777777';
    await accept(id, {});
    const { store } = operator.session;
    const spy = vi.spyOn(store, 'append').mockImplementationOnce(async (...own) => {
      spy.mockRestore();
      await append(invoiceStream('live', CNPJ, id), attempted(1, 10));
      return await store.append(...own);
    });
    const { problems } = await importing({ id, access_key: noteKey(CNPJ, 21) });
    spy.mockRestore();
    expect(problems).toEqual([
      `line 1: meanwhile, nfse_${id} is on record with other content: it was accepted here and may have been sent. Give the line again when that invoice has an outcome`,
    ]);
    const other = { reference: 'venda-21', access_key: noteKey(CNPJ, 21) };
    expect((await importing(other)).problems).toEqual([
      `line 1: access_key is held by nfse_${id}, which has no final outcome: where the line is of the same sale, give it with that id, else again when that invoice has an outcome`,
    ]);
    await append(invoiceStream('live', CNPJ, id), authorized(1, 20));
    expect(await importing(other)).toEqual(done);
    expect(await importing(other)).toEqual(again);
    expect((await importing({ reference: 'venda-22', access_key: noteKey(CNPJ, 21) })).problems).toContain(
      `line 1: access_key is held by nfse_${invoiceIdOfReference('live', CNPJ, 'venda-21')}`,
    );
  });

  it('attaches the note by the same file when the import died after it reserved the access key', async () => {
    const id = '88888888-8888-4888-8888-888888888888';
    await accept(id, {});
    const { store } = operator.session;
    const original = store.append;
    const died = vi.spyOn(store, 'append').mockImplementation((stream, version, events, ...rest) => {
      if (events[0]?.type === 'Authorized') throw new Error('died');
      return original(stream, version, events, ...rest);
    });
    const note = { id, access_key: noteKey(CNPJ, 22) };
    await expect(importing(note)).rejects.toThrow();
    died.mockRestore();
    expect([(await eventsOf(id)).length, (await reservationOf(22)).length]).toEqual([1, 1]);
    expect(await importing(note)).toEqual(done);
    expect([(await eventsOf(id)).length, (await reservationOf(22)).length]).toEqual([2, 1]);
    expect(await importing(note)).toEqual(again);
  });

  it('gives one note to one invoice when another import takes the note as that of another sale meanwhile', async () => {
    const id = '44444444-4444-4444-8444-444444444444';
    await accept(id, {});
    const other = invoiceIdOfReference('live', CNPJ, 'venda-23');
    const { store } = operator.session;
    const taken = { type: 'ReferenceTaken', data: { invoiceId: other, takenAt: AT } } as const;
    const spy = vi.spyOn(store, 'append').mockImplementationOnce(async (...own) => {
      spy.mockRestore();
      await append(invoiceStream('live', CNPJ, invoiceIdOfAccessKey('live', CNPJ, noteKey(CNPJ, 23))), taken);
      return await store.append(...own);
    });
    const { problems } = await importing({ id, access_key: noteKey(CNPJ, 23) });
    spy.mockRestore();
    expect(problems).toEqual([
      `line 1: meanwhile, access_key is held by nfse_${other}${NOT_THERE}: give the line with "id": "nfse_${other}"`,
    ]);
    expect(await eventsOf(id)).toHaveLength(1);
    expect(await importing({ reference: 'venda-23', access_key: noteKey(CNPJ, 23) })).toEqual(done);
  });

  it.each([
    ['between the check and the import of the line', 1],
    ['while the line is imported', 2],
  ])('attaches no note to a request of another sale that is accepted %s', async (_when, reading) => {
    const reference = `venda-31-${reading}`;
    const id = invoiceIdOfReference('live', CNPJ, reference);
    const stream = invoiceStream('live', CNPJ, id);
    const { store } = operator.session;
    const { load: original } = store;
    const line = { reference, access_key: noteKey(CNPJ, 310 + reading), description: 'A venda antiga' };
    let isAccepted = false;
    let loads = 0;
    // The first reading is that of the check before any line is imported.
    const spy = vi.spyOn(store, 'load').mockImplementation(async (from, options) => {
      const loaded = await original<never>(from, options);
      if (from === stream) loads += 1;
      if (loads === reading && !isAccepted) {
        isAccepted = true;
        await accept(id, { reference, amountInCents: 990_000, description: 'Outra venda' });
      }
      return loaded;
    });
    const { exit, problems } = await importing(line);
    spy.mockRestore();
    expect([isAccepted, exit]).toEqual([true, 1]);
    expect(problems?.[0]).toContain('was accepted with its reference or idempotency_key and waits to be sent');
    expect(await eventsOf(id)).toMatchObject([{ type: 'InvoiceAccepted', data: { amountInCents: 990_000 } }]);
  });

  it('frees the key of a line whose note another import has taken meanwhile', async () => {
    const { importedKeys, store } = operator.session;
    const reservation = invoiceStream('live', CNPJ, invoiceIdOfAccessKey('live', CNPJ, noteKey(CNPJ, 24)));
    const other = '66666666-6666-4666-8666-666666666666';
    const spy = vi.spyOn(store, 'append').mockImplementationOnce(async (...own) => {
      spy.mockRestore();
      await append(reservation, { type: 'ReferenceTaken', data: { invoiceId: other, takenAt: AT } });
      return await store.append(...own);
    });
    const line = { access_key: noteKey(CNPJ, 24), idempotency_key: 'key-24' };
    const { problems } = await importing(line);
    spy.mockRestore();
    const owner = { mode: 'live', companyId: CNPJ, keyHash: sha256Hex('key-24') } as const;
    expect(problems).toEqual([
      `line 1: meanwhile, access_key is held by nfse_${other}${NOT_THERE}: give the line with "id": "nfse_${other}"`,
    ]);
    expect(await importedKeys.holderOf(owner, AT)).toBeUndefined();
    const ofRequest = { ...owner, invoiceId: other };
    const { token = '' } = await importedKeys.take({ ...ofRequest, acceptedAt: AT }, AT);
    await operator.database.admin.query(`update idempotency_keys set body_hash = 'hmac:1:m1.0123456789abcdef:a'
      where key_hash = '${owner.keyHash}'`);
    await importedKeys.free(owner, token);
    expect(await importedKeys.holderOf(owner, AT)).toBe(other);
  });

  it('frees no key that an import of another line has given to the same invoice too', async () => {
    const { importedKeys } = operator.session;
    const owner = { mode: 'live', companyId: CNPJ, keyHash: sha256Hex('key-27') } as const;
    const id = invoiceIdOfKey('live', CNPJ, owner.keyHash, 0);
    const [first, second] = [await give('key-27', id), await give('key-27', id)];
    expect([first, second]).toEqual([{ holder: id, token: expect.any(String) }, { holder: id }]);
    await importedKeys.free(owner, first.token ?? '');
    expect(await importedKeys.holderOf(owner, AT)).toBe(id);
  });

  it('keeps the key of a line while another line with that key loses its note to a third import', async () => {
    const { importedKeys, store } = operator.session;
    const owner = { mode: 'live', companyId: CNPJ, keyHash: sha256Hex('key-28') } as const;
    const stream = invoiceStream('live', CNPJ, invoiceIdOfKey('live', CNPJ, owner.keyHash, 0));
    const reservation = invoiceStream('live', CNPJ, invoiceIdOfAccessKey('live', CNPJ, noteKey(CNPJ, 29)));
    const { append: original } = store;
    const other = '66666666-6666-4666-8666-666666666629';
    const waiting = [stream, reservation];
    const spy = vi.spyOn(store, 'append').mockImplementation(async (to, ...rest) => {
      if (to !== waiting[0]) return await original(to, ...rest);
      waiting.shift();
      if (to === stream) await importing({ access_key: noteKey(CNPJ, 29), idempotency_key: 'key-28' });
      else await append(reservation, { type: 'ReferenceTaken', data: { invoiceId: other, takenAt: AT } });
      return await original(to, ...rest);
    });
    const imports = await importing({ access_key: noteKey(CNPJ, 28), idempotency_key: 'key-28' });
    spy.mockRestore();
    expect({ imports, waiting }).toEqual({ imports: done, waiting: [] });
    expect(await importedKeys.holderOf(owner, AT)).toBe(invoiceIdOfKey('live', CNPJ, owner.keyHash, 0));
  });

  it('keeps the key of a line that loses its note, once another import has brought the invoice', async () => {
    const { importedKeys, store } = operator.session;
    const owner = { mode: 'live', companyId: CNPJ, keyHash: sha256Hex('key-30') } as const;
    const id = invoiceIdOfKey('live', CNPJ, owner.keyHash, 0);
    const reservation = invoiceStream('live', CNPJ, invoiceIdOfAccessKey('live', CNPJ, noteKey(CNPJ, 30)));
    const other = '66666666-6666-4666-8666-666666666630';
    const spy = vi.spyOn(store, 'append').mockImplementationOnce(async (...own) => {
      spy.mockRestore();
      await append(reservation, { type: 'ReferenceTaken', data: { invoiceId: other, takenAt: AT } });
      await append(invoiceStream('live', CNPJ, id), imported({ invoiceId: id, issuedAt: AT, keyHash: owner.keyHash }));
      return await store.append(...own);
    });
    const { problems } = await importing({ access_key: noteKey(CNPJ, 30), idempotency_key: 'key-30' });
    spy.mockRestore();
    expect(problems).toEqual([expect.stringContaining(`access_key is held by nfse_${other}`)]);
    expect(await importedKeys.holderOf(owner, AT)).toBe(id);
  });

  it('takes a line whose key a row still gives to an invoice that the log has lost', async () => {
    await give('key-31', '66666666-6666-4666-8666-666666666631');
    expect(await importing({ access_key: noteKey(CNPJ, 31), idempotency_key: 'key-31' })).toEqual(done);
  });

  it('takes the advised line while a row still shows the note at the invoice that the log has lost', async () => {
    const [once, id] = ['11111111-1111-4111-8111-111111111125', '11111111-1111-4111-8111-111111111126'];
    await accept(id, {});
    const head = await operator.session.log.head();
    await accept(once, {}, attempted(1, 3), {
      type: 'Authorized',
      data: { ...authorizedData(1, 5), accessKey: noteKey(CNPJ, 25) as AccessKey },
    });
    expect(await operator.session.projections.rebuild('invoices', () => undefined)).toHaveProperty('done');
    const { admin } = operator.database;
    await admin.query('delete from event_log where position > $1', [String(head)]);
    await admin.query('update event_log_head set position = $1', [String(head)]);
    const rows = await operator.session.readModel.byAccessKeys([noteKey(CNPJ, 25)]);
    expect(rows.map(({ stream }) => stream)).toEqual([invoiceStream('live', CNPJ, once)]);
    expect(await importing({ id, access_key: noteKey(CNPJ, 25) })).toEqual(done);
  });

  it.each([
    [{ amount_in_cents: 150_001 }, 'was accepted with another amount_in_cents'],
    [{ description: 'Outra' }, 'was accepted with another description'],
    [{ customer: { document: '52998224725' } }, 'was accepted with another customer'],
    [{ service_code: '010102' }, 'was accepted with another service_code'],
    [{ cnae: '6202300' }, 'was accepted with another cnae'],
    [{ reference: 'outra' }, 'was accepted with another reference'],
    [
      { state: 'canceled', canceled_at: AT },
      'waits to be sent: give its note with the state issued, also when it was canceled since',
    ],
    [
      { access_key: noteKey(CNPJ, 50).slice(0, -1) + ((Number(noteKey(CNPJ, 50).at(-1)) + 1) % 10) },
      'waits to be sent: access_key has a wrong check digit',
    ],
    [{ access_key: undefined }, 'waits to be sent: give the access_key of its note'],
  ])('refuses a line that contradicts the acceptance: %j', async (fields, problem) => {
    const id = '55555555-5555-4555-8555-555555555555';
    if ((await eventsOf(id)).length === 0) await accept(id, {});
    const { exit, problems } = await importing({ id, access_key: noteKey(CNPJ, 50), ...fields });
    expect({ exit, problems }).toEqual({ exit: 1, problems: [`line 1: nfse_${id} ${problem}`] });
    expect(await eventsOf(id)).toHaveLength(1);
  });

  it.each<[string, number, InvoiceEvent[]]>([
    ['the pause kept from being sent', 71, [attempted(1, 3), notSent(1, 4)]],
    ['met the note of another sale', 72, [attempted(1, 3), conflictFound(1, 4)]],
  ])('records the note where an attempt %s', async (_what, n, more) => {
    const id = `66666666-6666-4666-8666-6666666666${n}`;
    await accept(id, {}, ...more);
    const note = { id, access_key: noteKey(CNPJ, n) };
    expect(await importing(note)).toEqual(done);
    expect((await eventsOf(id)).at(-1)).toMatchObject({
      type: 'Authorized',
      data: { attempt: 2, attemptLost: true, accessKey: noteKey(CNPJ, n) },
    });
    expect(await importing(note)).toEqual(again);
  });

  it.each<[string, number, InvoiceEvent[]]>([
    ['has no answer', 73, [attempted(1, 3)]],
    ['was proven absent', 74, [attempted(1, 3), provenAbsent(1, 90)]],
    ['met its own content', 75, [attempted(1, 3), conflictFound(1, 4, true)]],
    ['never left after one without an answer', 76, [attempted(1, 3), unknown(1, 4), attempted(2, 90), notSent(2, 91)]],
  ])('refuses the note where an attempt %s', async (_what, n, more) => {
    const id = `66666666-6666-4666-8666-6666666666${n}`;
    await accept(id, {}, ...more);
    const { problems } = await importing({ id, access_key: noteKey(CNPJ, n) });
    expect(problems).toEqual([
      `line 1: nfse_${id} may have been sent, so it may have another note: no note is recorded on it before a look-up of its own DPS id has said what came of that`,
    ]);
    expect(await eventsOf(id)).toHaveLength(1 + more.length);
    expect(await reservationOf(n)).toEqual([]);
  });

  it('refuses an invoice that was sent, and a key that belongs to it', async () => {
    const id = invoiceIdOfReference('live', CNPJ, 'venda-6');
    await accept(id, { reference: 'venda-6' }, attempted(1, 10));
    const taken = { mode: 'live', companyId: CNPJ, keyHash: sha256Hex('key-6'), invoiceId: id } as const;
    await operator.session.importedKeys.take({ ...taken, acceptedAt: AT }, AT);
    const { problems } = await importing({ access_key: noteKey(CNPJ, 6), reference: 'venda-6' });
    expect(problems).toEqual([
      `line 1: nfse_${id} is on record with other content: it was accepted here and may have been sent. Give the line again when that invoice has an outcome`,
    ]);
    const byKey = await importing({ access_key: noteKey(CNPJ, 6), amount_in_cents: 1, idempotency_key: 'key-6' });
    expect(byKey.problems).toEqual([`line 1: idempotency_key is held by nfse_${id}`]);
  });

  it('gives the key of a request that was taken over to its invoice until its day ends', async () => {
    const { importedKeys } = operator.session;
    const owner = { mode: 'live', companyId: CNPJ, keyHash: sha256Hex('key-7') } as const;
    expect(await importing({ access_key: noteKey(CNPJ, 7), idempotency_key: 'key-7' })).toEqual(done);
    const id = invoiceIdOfKey('live', CNPJ, sha256Hex('key-7'), 0);
    expect(await importedKeys.holderOf(owner, '2026-11-22T11:59:59.999Z')).toBe(id);
    expect(await importedKeys.holderOf(owner, '2026-11-22T12:00:00.000Z')).toBeUndefined();
  });

  it('gives the key of a line to its invoice for a day from its created_at on, which is before its date of issue', async () => {
    const { importedKeys } = operator.session;
    const owner = { mode: 'live', companyId: CNPJ, keyHash: sha256Hex('key-8') } as const;
    const fields = { access_key: noteKey(CNPJ, 8), idempotency_key: 'key-8', created_at: '2026-11-20T20:00:00.000Z' };
    expect(await importing(fields)).toEqual(done);
    const id = invoiceIdOfKey('live', CNPJ, owner.keyHash, 0);
    expect(await importedKeys.holderOf(owner, '2026-11-21T19:59:59.999Z')).toBe(id);
    expect(await importedKeys.holderOf(owner, '2026-11-21T20:00:00.000Z')).toBeUndefined();
  });

  const note = {
    companyId: CNPJ,
    mode: 'live',
    series: '1',
    number: 60,
    accessKey: noteKey(CNPJ, 60),
    authorizedAt: AT,
    amount: '1500.00',
  } as const;
  const doctorSays = async (repeats: Repeats): Promise<string> => {
    const { text } = await doctorCommand.run({
      positionals: [],
      flags: { reconcile: true },
      actor: 'ana',
      terminal: { out: () => undefined, err: () => undefined },
      session: async () => ({
        ...operator.session,
        recoverLog: async () => ({
          kind: 'compared' as const,
          resumed: false as const,
          isDone: false,
          series: [],
          skipped: [],
          doubtful: [],
          unproven: [],
          unknown: [{ ...note, ...repeats }],
        }),
      }),
    });
    return text ?? '';
  };

  it('is advised by doctor with every invoice that the note may belong to', async () => {
    const text = await doctorSays({ acceptedAgain: ['nfse_a', 'nfse_b', 'nfse_c'], sendableUntil: AT });
    expect(text).toContain('"id":"nfse_a"');
    expect(text).toContain(
      'with the id of the invoice that is the same sale: nfse_a or nfse_b or nfse_c. Each of the others is sent after the pause, which is right only where it is another sale',
    );
    expect(text).toContain(`--accept-unknown does not end the pause before that, or before ${AT}`);
    expect(await doctorSays({ acceptedAgain: ['nfse_a'] })).toContain('--accept-unknown ends the pause too');
  });

  it('is advised by doctor as another sale only after the outcome of the invoice that met it', async () => {
    const advice = 'If the note is of another sale: once nfse_a has an outcome, the same line with';
    expect(await doctorSays({ acceptedAgain: ['nfse_a'], metAgain: ['nfse_a'], sendableUntil: AT })).toContain(advice);
    expect(await doctorSays({ acceptedAgain: ['nfse_a'] })).toContain('another sale: the same line with');
  });

  it('is not advised by doctor for an invoice that may have been sent', async () => {
    const text = await doctorSays({ sentAgain: ['nfse_s'], sendableUntil: AT });
    expect(text).not.toContain('"id"');
    expect(text).toContain('may belong to nfse_s, which has the same amount and customer and may have been sent');
    expect(text).toContain('nfse_s may have been sent and takes no other note: if it is the same sale, wait until');
    const both = await doctorSays({ acceptedAgain: ['nfse_a'], sentAgain: ['nfse_s'], sendableUntil: AT });
    expect(both).toContain('"id":"nfse_a"');
    expect(both).toContain('nfse_s may have been sent and takes no other note');
  });
});
