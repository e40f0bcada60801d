import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { invoiceIdOfKey, invoiceIdOfReference, sha256Hex } from '../../src/app/event-store/hashes.js';
import { doctorCommand } from '../../src/cli/commands/doctor.js';
import { importCommand } from '../../src/cli/commands/invoice.js';
import { accessKeyCheckDigit } from '../../src/domain/common/access-key.js';
import { companyStream, type InvoiceId, invoiceStream } from '../../src/domain/common/ids.js';
import type { InvoiceEvent, InvoiceEventData } from '../../src/domain/invoice/events.js';
import { demoCompany } from '../support/fixture/demo.js';
import { accepted, attempted } from '../support/fixture/invoice.js';
import { appendTo, movableClock } from '../support/harness/event-store.js';
import { type Operator, openOperator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const CNPJ = '12345678000195';
const AT = '2026-11-21T12:00:00.000Z';

/** The access key of note `n`. */
const keyOf = (n: number): string => {
  const first = `330455722${CNPJ}${String(n).padStart(13, '0')}2611123456789`;
  return first + accessKeyCheckDigit(first);
};

describeWithPostgres('an import of the note of an accepted invoice that was never sent', () => {
  let operator: Operator;

  beforeAll(async () => {
    const clock = movableClock('2026-11-21T12:30:00.000Z');
    operator = await openOperator([importCommand(async () => () => undefined)], undefined, {}, clock);
    const { registration } = demoCompany(CNPJ);
    await append(companyStream(CNPJ), { type: 'CompanyRegistered', data: { registration, at: AT } });
  });
  afterAll(() => operator.close());

  const append = (stream: string, ...events: Parameters<typeof appendTo>[2]) =>
    appendTo(operator.session.store, stream, events, AT);
  const accept = (
    invoiceId: InvoiceId,
    overrides: Partial<InvoiceEventData<'InvoiceAccepted'>>,
    ...more: readonly InvoiceEvent[]
  ) => append(invoiceStream('live', CNPJ, invoiceId), accepted({ invoiceId, ...overrides }), ...more);
  const line = (fields: object) => ({
    cnpj: CNPJ,
    mode: 'live',
    origin: 'legacy',
    state: 'issued',
    amount_in_cents: 150_000,
    issued_at: AT,
    ...fields,
  });
  const importing = async (fields: object) => {
    const file = join(operator.folder, 'note.ndjson');
    await writeFile(file, JSON.stringify(line(fields)));
    const { exit, out } = await operator.run('invoice', 'import', file, '--json');
    return { exit, ...(JSON.parse(out) as { imported?: number; already?: number; problems?: string[] }) };
  };
  const eventsOf = async (id: InvoiceId) =>
    (await operator.session.log.read(invoiceStream('live', CNPJ, id))).map(({ type, data }) => ({ type, data }));
  const done = { exit: 0, imported: 1, already: 0 };

  describe('records the note as its outcome', () => {
    const byReference = invoiceIdOfReference('live', CNPJ, 'venda-1');
    const keyed = invoiceIdOfKey('live', CNPJ, sha256Hex('key-3'), 0);
    const withBoth = invoiceIdOfReference('live', CNPJ, 'venda-4');
    const mark = (key: string) => ({
      idempotency: { keyHash: sha256Hex(key), bodyHash: 'hmac:1:m1.0123456789abcdef:a' },
    });

    it.each<[string, number, InvoiceId, Partial<InvoiceEventData<'InvoiceAccepted'>>, object]>([
      ['by its reference', 1, byReference, { reference: 'venda-1' }, { reference: 'venda-1' }],
      [
        'by its id, with all that the line has of the content',
        2,
        '22222222-2222-4222-8222-222222222222',
        {},
        {
          id: '22222222-2222-4222-8222-222222222222',
          description: 'Desenvolvimento de sistema',
          customer: { document: '11111111000191' },
          service_code: '010101',
        },
      ],
      ['by its key', 3, keyed, mark('key-3'), { idempotency_key: 'key-3' }],
      ['by the key of a request with a reference', 4, withBoth, { reference: 'venda-4' }, { idempotency_key: 'key-4' }],
    ])('%s', async (_by, n, id, overrides, fields) => {
      await accept(id, overrides);
      const taken = { mode: 'live', companyId: CNPJ, keyHash: sha256Hex(`key-${n}`), invoiceId: id } as const;
      await operator.session.importedKeys.take({ ...taken, acceptedAt: AT }, AT);
      const note = { access_key: keyOf(n), ...fields };
      expect(await importing(note)).toEqual(done);
      expect(await eventsOf(id)).toMatchObject([
        { type: 'InvoiceAccepted' },
        {
          type: 'Authorized',
          data: { attempt: 1, attemptLost: true, accessKey: keyOf(n), nfseNumber: String(n), authorizedAt: AT },
        },
      ]);
      expect(await importing(note)).toEqual({ exit: 0, imported: 0, already: 1 });
      expect(await eventsOf(id)).toHaveLength(2);
    });
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
      { access_key: keyOf(50).slice(0, -1) + ((Number(keyOf(50).at(-1)) + 1) % 10) },
      'waits to be sent: access_key has a wrong check digit',
    ],
    [{ access_key: undefined }, 'waits to be sent: give the access_key of its note'],
  ])('refuses a line that contradicts the acceptance: %j', async (fields, problem) => {
    const id = '55555555-5555-4555-8555-555555555555';
    if ((await eventsOf(id)).length === 0) await accept(id, {});
    const { exit, problems } = await importing({ id, access_key: keyOf(50), ...fields });
    expect({ exit, problems }).toEqual({ exit: 1, problems: [`line 1: nfse_${id} ${problem}`] });
    expect(await eventsOf(id)).toHaveLength(1);
  });

  it('refuses an invoice that was sent, and a key that belongs to it', async () => {
    const id = invoiceIdOfReference('live', CNPJ, 'venda-6');
    await accept(id, { reference: 'venda-6' }, attempted(1, 10));
    const taken = { mode: 'live', companyId: CNPJ, keyHash: sha256Hex('key-6'), invoiceId: id } as const;
    await operator.session.importedKeys.take({ ...taken, acceptedAt: AT }, AT);
    for (const by of [{ reference: 'venda-6' }, { idempotency_key: 'key-6' }]) {
      const { problems } = await importing({ access_key: keyOf(6), ...by });
      expect(problems).toEqual([`line 1: nfse_${id} is on record with other content`]);
    }
  });

  it('gives the key of a request that was taken over to its invoice until its day ends', async () => {
    const { importedKeys } = operator.session;
    const owner = { mode: 'live', companyId: CNPJ, keyHash: sha256Hex('key-7') } as const;
    expect(await importing({ access_key: keyOf(7), idempotency_key: 'key-7' })).toEqual(done);
    const id = invoiceIdOfKey('live', CNPJ, sha256Hex('key-7'), 0);
    expect(await importedKeys.holderOf(owner, '2026-11-22T11:59:59.999Z')).toBe(id);
    expect(await importedKeys.holderOf(owner, '2026-11-22T12:00:00.000Z')).toBeUndefined();
  });

  it('is advised by doctor with every invoice that the note may belong to', async () => {
    const note = {
      companyId: CNPJ,
      mode: 'live',
      series: '1',
      number: 60,
      accessKey: keyOf(60),
      authorizedAt: AT,
    } as const;
    const acceptedAgain = ['nfse_a', 'nfse_b', 'nfse_c'];
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
          unproven: [],
          unknown: [{ ...note, amount: '1500.00', acceptedAgain }],
        }),
      }),
    });
    expect(text).toContain('"id":"nfse_a"');
    expect(text).toContain(
      'with the id of the invoice that is the same sale: nfse_a or nfse_b or nfse_c. Each of the others is sent after the pause, which is right only where it is another sale',
    );
  });
});
