import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { invoiceIdOfAccessKey, invoiceIdOfReference } from '../../src/app/event-store/hashes.js';
import { accessKeyCheckDigit } from '../../src/domain/common/access-key.js';
import { invoiceStream } from '../../src/domain/common/ids.js';
import { accepted, attempted, authorized, rejected } from '../support/fixture/invoice.js';
import { appendTo } from '../support/harness/event-store.js';
import { importLine, noteKey, openImporter } from '../support/harness/importer.js';
import type { Operator } from '../support/harness/operator.js';
import { describeWithPostgres } from '../support/postgres.js';

const CNPJ = '12345678000195';
const OTHER = '98765432000198';
const AT = '2026-11-21T12:00:00.000Z';
const idOf = (reference: string): string => `nfse_${invoiceIdOfReference('live', CNPJ, reference)}`;
const withWrongDigit = (key: string): string => `${key.slice(0, -1)}${(Number(key.slice(-1)) + 1) % 10}`;
const NAMELESS =
  'no reference, id or idempotency_key, so a request for the same sale makes a second note. Add the reference of the sale, unless an invoice here has that reference. Where the line is on record, give it once more with reference, and without access_key and xml_file';
const NOT_MENDED =
  'The API cancels no such note, and no command corrects the key afterwards. Correct access_key, or leave it out where the right key is not known';
const LEAVE_OUT = 'No import changes an invoice on record: leave the line out';

describeWithPostgres('nfse invoice import of the invoices of an earlier provider', () => {
  let operator: Operator;

  beforeAll(async () => {
    operator = await openImporter(CNPJ, AT);
  });
  afterAll(() => operator.close());

  const line = (fields: object = {}) => importLine(CNPJ, AT, fields);
  const give = async (text: string, ...flags: string[]) => {
    const file = join(operator.folder, 'antigas.ndjson');
    await writeFile(file, text);
    return await operator.run('invoice', 'import', file, ...flags);
  };
  const textOf = (lines: readonly object[]): string => lines.map((one) => JSON.stringify(one)).join('\n');
  const importing = async (...lines: readonly object[]) => {
    const { exit, out } = await give(textOf(lines), '--json');
    return { exit, ...(JSON.parse(out) as { problems?: string[]; warnings?: string[]; imported?: number }) };
  };
  const eventsOnRecord = async (): Promise<number> =>
    (await operator.session.log.readAll({ prefixes: ['nfse'], after: null, limit: 1_000 })).length;

  describe('--check', () => {
    it('says what an import would do and warn of, and appends nothing', async () => {
      const before = await eventsOnRecord();
      const text = textOf([line({ reference: 'check-1' }), line({ description: 'sem nome' })]);
      const checked = await give(text, '--check');
      const json = await give(text, '--check', '--json');
      expect(checked).toEqual({
        exit: 0,
        out: `2 invoices to import, 0 were there already; nothing was changed\nwarning: line 2: ${NAMELESS}`,
        err: '',
      });
      expect(JSON.parse(json.out)).toEqual({
        ok: true,
        to_import: 2,
        already: 0,
        warnings: [`line 2: ${NAMELESS}`],
      });
      expect(await eventsOnRecord()).toBe(before);
    });

    it('finds what the import would refuse', async () => {
      const { exit, err } = await give(textOf([line({ state: 'replaced', canceled_at: AT })]), '--check');
      expect([exit, err.split('\n').slice(1)]).toEqual([
        1,
        ['  line 1: canceled_at goes with the state canceled only'],
      ]);
      expect(err).toMatch(/antigas\.ndjson cannot be imported:/);
    });
  });

  it('takes a key that cannot be right, and warns once of each kind of fault', async () => {
    const ofOther = noteKey(OTHER, 2);
    const result = await importing(
      line({ reference: 'key-0', access_key: noteKey(CNPJ, 1) }),
      line({ reference: 'key-1', access_key: withWrongDigit(noteKey(CNPJ, 3)) }),
      line({ reference: 'key-2', access_key: ofOther }),
      line({ reference: 'key-3', access_key: withWrongDigit(noteKey(CNPJ, 4)) }),
      line({ reference: 'key-4', mode: 'test', access_key: withWrongDigit(noteKey(CNPJ, 1)) }),
    );
    expect(result).toEqual({
      exit: 0,
      imported: 5,
      already: 0,
      warnings: [
        `line 3: access_key is of another company: characters 10 to 23 are not the cnpj of the line. ${NOT_MENDED}`,
        `lines 2, 4: access_key has a wrong check digit, so Sefin has no note under it. ${NOT_MENDED}`,
      ],
    });
  });

  it('does not say to correct a key that is on record, because the corrected line would be a second invoice', async () => {
    const fields = { reference: 'key-5', access_key: withWrongDigit(noteKey(CNPJ, 5)) };
    const foreign = { reference: 'key-6', access_key: noteKey(OTHER, 6) };
    await importing(line(fields), line(foreign));
    const onRecord =
      'The API cancels no such note. The line is on record, and no command corrects the key: change nothing in the line';
    expect(await importing(line(fields), line(foreign), line(fields))).toEqual({
      exit: 0,
      imported: 0,
      already: 3,
      warnings: [
        `line 2: access_key is of another company: characters 10 to 23 are not the cnpj of the line. ${onRecord}`,
        `lines 1, 3: access_key has a wrong check digit, so Sefin has no note under it. ${onRecord}`,
      ],
    });
    const corrected = [
      { ...fields, access_key: noteKey(CNPJ, 5) },
      { ...foreign, access_key: noteKey(CNPJ, 6) },
    ];
    expect((await importing(line(), ...corrected.map(line))).problems).toEqual([
      ...corrected.map(
        ({ reference }, n) =>
          `line ${n + 2}: ${idOf(reference)} is on record with other content: access_key differs. The key on record is no national key of the company, and no command corrects it: leave the line out`,
      ),
      "all lines are imported or none: the rest is taken from a file without such lines: sed '2,3d' FILE > NEW-FILE",
    ]);
  });

  it('says of a key of another shape that it is no national key, because its check digit may be right', async () => {
    const first = `33045573${noteKey(CNPJ, 7).slice(8, -1)}`;
    const result = await importing(line({ reference: 'key-7', access_key: `${first}${accessKeyCheckDigit(first)}` }));
    expect(result.warnings).toEqual([
      `line 1: access_key is no national key: its eighth and ninth character are 1 or 2 in such a key. ${NOT_MENDED}`,
    ]);
  });

  it('warns of test invoices whose life is over before they come', async () => {
    const result = await importing(
      line({ mode: 'test', reference: 'old', created_at: '2026-01-02T12:00:00Z' }),
      line({ mode: 'test', reference: 'new', created_at: AT }),
    );
    expect(result.warnings).toEqual([
      'line 1: a test invoice is deleted 7 days after its created_at, so nobody can read the invoice. Real notes have the mode live',
    ]);
  });

  it('shows up to a hundred equal problems and warnings, of more the first ten, and has all with --json', async () => {
    const bad = Array.from({ length: 101 }, (_, n) => line({ cnpj: OTHER, reference: `many-${n}` }));
    const nameless = Array.from({ length: 101 }, (_, n) => line({ amount_in_cents: 70_000 + n }));
    const problemOf = (n: number): string =>
      `line ${n} (${OTHER}): cnpj ${OTHER} is no registered company: nfse company put FILE.json`;
    const numbers = Array.from({ length: 101 }, (_, n) => n + 1);
    const shownOf = async (lines: readonly object[]): Promise<readonly string[]> => {
      const { out, err } = await give(textOf(lines), '--check');
      return `${out}${err}`.split('\n').slice(1);
    };
    const ten = numbers.slice(1, 11).map((n) => `  ${problemOf(n)}`);
    expect(await shownOf([line(), ...bad])).toEqual([...ten, '  91 more, as line 2: --json has all']);
    expect(await shownOf([line(), ...bad.slice(1)])).toHaveLength(100);
    expect((await importing(line(), ...bad)).problems).toEqual(numbers.map((n) => problemOf(n + 1)));
    expect(await shownOf(nameless)).toEqual([
      `warning: 101 lines (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …; --json has all): ${NAMELESS}`,
    ]);
    expect(await shownOf(nameless.slice(1))).toEqual([
      `warning: lines ${numbers.slice(0, 100).join(', ')}: ${NAMELESS}`,
    ]);
    expect((await importing(...nameless)).warnings).toEqual([`lines ${numbers.join(', ')}: ${NAMELESS}`]);
  });

  it('says of a CNPJ with wrong check digits that it is none', async () => {
    const cnpj = '12345678000190';
    expect((await importing(line({ cnpj }))).problems).toEqual([`line 1: cnpj ${cnpj} has wrong check digits`]);
  });

  it.each([
    [
      'a JSON array',
      `[${JSON.stringify(line())}]`,
      "the file is a JSON array, and an import reads one JSON object a line: jq -c '.[]' FILE > NEW-FILE",
    ],
    [
      'an object over several lines',
      JSON.stringify(line(), undefined, 2),
      'the file has a JSON object over several lines, and an import reads one a line: jq -c . FILE > NEW-FILE',
    ],
    [
      'an object that goes on behind its first field',
      JSON.stringify(line(), undefined, 2).replace('{\n', '{').replaceAll('\n', '\r\n'),
      'the file has a JSON object over several lines, and an import reads one a line: jq -c . FILE > NEW-FILE',
    ],
    [
      'one whose lines end with CR alone',
      `${JSON.stringify(line())}\r${JSON.stringify(line())}\r`,
      "the lines of the file end with CR alone, and an import reads lines that end with LF: tr '\\r' '\\n' < FILE > NEW-FILE",
    ],
  ])('says in one sentence that the file is %s', async (_what, text, problem) => {
    expect(JSON.parse((await give(text, '--json')).out)).toMatchObject({ problems: [problem] });
  });

  it.each([
    ['before another line', `{"cnpj":\n${JSON.stringify(line())}`],
    ['at its end', '{"cnpj":"12345678000195",\n \n'],
  ])('says of a line that was cut %s that it is not JSON', async (_where, text) => {
    expect(JSON.parse((await give(text, '--json')).out)).toMatchObject({ problems: ['line 1: is not JSON'] });
  });

  it('takes files that were joined, each with a byte order mark', async () => {
    const lines = ['mark-1', 'mark-2'].map((reference) => `\ufeff${JSON.stringify(line({ reference }))}\n`);
    expect(await give(lines.join(''))).toMatchObject({ exit: 0, out: '2 invoices imported, 0 were there already' });
  });

  it('takes a file with a byte order mark, and CR as white space', async () => {
    const [one, other] = [line({ reference: 'cr-1' }), line({ reference: 'cr-2' })];
    const text = `\ufeff${JSON.stringify(one).replace(',', ',\r')}\r\n{\r${JSON.stringify(other).slice(1)}\r\r\n`;
    expect(await give(text)).toMatchObject({ exit: 0, out: '2 invoices imported, 0 were there already' });
  });

  it('counts lines as sed does where they end with CR CR LF', async () => {
    const [one, known, last] = ['crcr-1', 'crcr-2', 'crcr-3'].map((reference) => line({ reference }));
    expect(await importing({ ...known })).toMatchObject({ exit: 0 });
    const lines = [one, { ...known, amount_in_cents: 2 }, last];
    const text = lines.map((each) => `${JSON.stringify(each)}\r\r\n`).join('');
    expect(JSON.parse((await give(text, '--json')).out)).toMatchObject({
      problems: [expect.stringMatching(/^line 2: /), expect.stringMatching(/ sed '2d' FILE > NEW-FILE$/)],
    });
  });

  describe('with an invoice that is on record otherwise', () => {
    const refusalOf = async (before: object, after: object): Promise<readonly string[] | undefined> => {
      expect(await importing(line(before))).toMatchObject({ exit: 0 });
      return (await importing(line(after))).problems;
    };

    it('names the fields, none of their values, and how to import the rest', async () => {
      const reference = 'delta-1';
      const customer = { document: '52998224725', name: 'MARIA SEGREDO' };
      expect(await importing(line({ reference, customer }))).toMatchObject({ exit: 0 });
      const changed = line({ reference, amount_in_cents: 2_000, customer: { ...customer, name: 'Outra' } });
      const { problems } = await importing(line({ reference: 'delta-2' }), changed, changed);
      const refusal = `${idOf(reference)} is on record with other content: amount_in_cents, customer.name differ. ${LEAVE_OUT}`;
      expect(problems).toEqual([
        `line 2: ${refusal}`,
        `line 3: ${refusal}`,
        "all lines are imported or none: the rest is taken from a file without such lines: sed '2,3d' FILE > NEW-FILE",
      ]);
      expect(await eventsOfLive(reference)).toBe(1);
      expect(await eventsOfLive('delta-2')).toBe(0);
    });

    it('gives no sed order where only repetitions of the refused line are left', async () => {
      await importing(line({ reference: 'delta-4' }));
      const changed = line({ reference: 'delta-4', amount_in_cents: 2 });
      const { problems } = await importing(changed, changed);
      expect(problems?.map((problem) => problem.split(':')[0])).toEqual(['line 1', 'line 2']);
    });

    it('refuses each copy of a line for what is wrong with the first, but no line that names the invoice itself', async () => {
      const invoiceId = invoiceIdOfReference('live', CNPJ, 'named');
      await appendTo(
        operator.session.store,
        invoiceStream('live', CNPJ, invoiceId),
        [accepted({ companyId: CNPJ, invoiceId, reference: 'named', amountInCents: 1_000 })],
        AT,
      );
      const leading = line({ reference: 'named', access_key: noteKey(CNPJ, 41) });
      const { problems } = await importing(leading, { ...leading, id: `nfse_${invoiceId}` }, leading);
      expect(problems?.map((problem) => problem.split(':')[0])).toEqual(['line 1', 'line 3']);
    });

    it('gives no way around a file that has another fault', async () => {
      await importing(line({ reference: 'delta-3' }));
      const { problems } = await importing(
        line({ reference: 'delta-3', amount_in_cents: 2 }),
        line({ state: 'x' }),
        line(),
      );
      expect(problems?.map((problem) => problem.split(':')[0])).toEqual(['line 1', 'line 2']);
    });

    it('names the command that records a cancellation since', async () => {
      const reference = 'since-1';
      const access_key = noteKey(CNPJ, 11);
      const canceled = { reference, access_key, state: 'canceled', canceled_at: '2026-11-21T12:10:00Z' };
      const problems = await refusalOf({ reference, access_key }, canceled);
      expect(problems).toEqual([
        `line 1: ${idOf(reference)} is on record with other content: state, canceled_at differ. Leave the line out, or record first that the note was canceled since: nfse invoice resolve ${idOf(reference)} --as canceled --evidence portal`,
      ]);
    });

    it('names the command that records a replacement since, after which the line is on record as it was', async () => {
      const reference = 'since-3';
      const access_key = noteKey(CNPJ, 14);
      const replaced = { reference, access_key, state: 'replaced', replaced_by: noteKey(CNPJ, 15) };
      const refusal = `line 1: ${idOf(reference)} is on record with other content: state, replaced_by differ. Leave the line out, or record first that the note was replaced since: nfse invoice resolve ${idOf(reference)} --as canceled --evidence portal`;
      expect(await refusalOf({ reference, access_key }, replaced)).toEqual([refusal]);
      const stream = invoiceStream('live', CNPJ, invoiceIdOfReference('live', CNPJ, reference));
      const event = { eventType: '105102', eventSha256: 'a'.repeat(64), canceledAt: AT, at: AT } as const;
      const ended = { type: 'NoteCanceledElsewhere', data: { accessKey: access_key, ...event } } as const;
      await appendTo(operator.session.store, stream, [ended], AT);
      expect(await importing(line(replaced))).toEqual({ exit: 0, imported: 0, already: 1, warnings: [] });
      const other = await importing(line({ ...replaced, amount_in_cents: 2 }));
      expect(other.problems).toEqual([
        expect.stringMatching(/: amount_in_cents, state, replaced_by differ\. No import /),
      ]);
    });

    it('names that command also of a note of a municipality, whose events the ADN has', async () => {
      const reference = 'since-4';
      const first = `33045571${noteKey(CNPJ, 16).slice(8, -1)}`;
      const access_key = `${first}${accessKeyCheckDigit(first)}`;
      expect(await refusalOf({ reference, access_key }, { reference, access_key, state: 'canceled' })).toEqual([
        expect.stringMatching(/ canceled since: nfse invoice resolve \S+ --as canceled --evidence portal$/),
      ]);
    });

    it.each([
      ['without access key', 'since-2', {}],
      ['of a wrong key', 'since-5', { access_key: withWrongDigit(noteKey(CNPJ, 17)) }],
      ['of the key of another company', 'since-6', { access_key: noteKey(OTHER, 18) }],
    ])('says that a note %s stays issued', async (_how, reference, key) => {
      const problems = await refusalOf({ reference, ...key }, { reference, ...key, state: 'canceled' });
      expect(problems).toEqual([
        `line 1: ${idOf(reference)} is on record with other content: state differs. It stays issued here, because Sefin knows no cancellation of a note without a national access_key: leave the line out`,
      ]);
    });

    it('says that the sale may have two notes', async () => {
      const [one, other] = [noteKey(CNPJ, 12), noteKey(CNPJ, 13)];
      const problems = await refusalOf({ reference: 'two', access_key: one }, { reference: 'two', access_key: other });
      expect(problems).toEqual([
        `line 1: ${idOf('two')} is on record with other content: access_key differs. The sale may have two notes: give the line without id, reference and idempotency_key`,
      ]);
    });

    it('names the invoice that holds the reference under an id of its own', async () => {
      const id = 'nfse_31313131-3131-4131-8131-313131313131';
      const problems = await refusalOf({ reference: 'own', id }, { reference: 'own' });
      expect(problems).toEqual([
        `line 1: its reference is held by ${id}: where the line is that invoice, give it with "id": "${id}"`,
      ]);
    });

    it.each([
      [
        'issued',
        [attempted(1, 1), authorized(1, 2)],
        'it was issued here with another note. Where both are of one sale, cancel one of the two; and give the line without id, reference and idempotency_key',
      ],
      [
        'refused',
        [attempted(1, 1), rejected(1, 2)],
        'it was accepted here and has failed. Where the line is the note of that sale, give the line without id, reference and idempotency_key, and tell its client that this note counts',
      ],
    ] as const)('says what became of an invoice that was %s here', async (reference, more, advice) => {
      const invoiceId = invoiceIdOfReference('live', CNPJ, reference);
      const stream = invoiceStream('live', CNPJ, invoiceId);
      await appendTo(
        operator.session.store,
        stream,
        [accepted({ companyId: CNPJ, invoiceId, reference }), ...more],
        AT,
      );
      const { problems } = await importing(line({ reference, access_key: noteKey(CNPJ, 21) }));
      expect(problems).toEqual([`line 1: ${idOf(reference)} is on record with other content: ${advice}`]);
    });
  });

  it('says exactly what was imported when requests come in between', async () => {
    const { store } = operator.session;
    const references = Array.from({ length: 12 }, (_, n) => `race-${n + 1}`);
    const ids = new Map(references.map((reference) => [reference, invoiceIdOfReference('live', CNPJ, reference)]));
    const toTake = new Map(
      [...ids].map(([reference, invoiceId]) => [
        invoiceStream('live', CNPJ, invoiceId),
        accepted({ companyId: CNPJ, invoiceId, reference }),
      ]),
    );
    const append = store.append.bind(store);
    const spy = vi.spyOn(store, 'append').mockImplementation(async (...own) => {
      const request = toTake.get(own[0]);
      toTake.delete(own[0]);
      if (request !== undefined) await appendTo(store, own[0], [request], AT);
      return await append(...own);
    });
    const lines = ['race-free', ...references, 'race-1'].map((reference) => line({ reference }));
    const { exit, err } = await give(textOf(lines));
    spy.mockRestore();
    const lost = [...references, 'race-1'].map((reference, n) =>
      expect.stringMatching(`  line ${n + 2}: meanwhile, ${idOf(reference)} `),
    );
    expect([exit, err.split('\n').slice(1)]).toEqual([1, lost]);
    expect(err).toMatch(/was imported but for these lines \(1 invoice imported, 0 were there already\):/);
    expect(await eventsOfLive('race-free')).toBe(1);
  });

  it('counts a line as there already that another import brought meanwhile', async () => {
    const { store } = operator.session;
    const access_key = noteKey(CNPJ, 31);
    const text = textOf([line({ reference: 'both', access_key })]);
    const reservation = invoiceStream('live', CNPJ, invoiceIdOfAccessKey('live', CNPJ, access_key));
    const spy = vi.spyOn(store, 'append').mockImplementationOnce(async (...own) => {
      spy.mockRestore();
      expect(await give(text)).toMatchObject({ exit: 0, out: '1 invoice imported, 0 were there already' });
      return await store.append(...own);
    });
    const second = await give(text);
    spy.mockRestore();
    expect(second).toMatchObject({ exit: 0, out: '0 invoices imported, 1 were there already' });
    expect(await operator.session.log.read(reservation)).toHaveLength(1);
  });

  const eventsOfLive = async (reference: string): Promise<number> =>
    (await operator.session.log.read(invoiceStream('live', CNPJ, invoiceIdOfReference('live', CNPJ, reference))))
      .length;
});
