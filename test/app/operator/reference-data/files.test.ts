import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCatalogFile, renderCatalogFile } from '../../../../src/app/operator/reference-data/catalog-file.js';
import { parseRegistryFile } from '../../../../src/app/operator/reference-data/registry-file.js';
import type { OperatorLine } from '../../../../src/domain/catalog/events.js';
import { classification, shippedCatalogue, shippedCnaes } from '../../../../src/tables/catalogue.js';

const isServiceCode = (code: string): boolean => code.startsWith('01');
const HEADER = 'cnae\tservice_code\tnbs\tdescription\tis_default';

describe('a catalogue file', () => {
  const parse = (...lines: string[]) => parseCatalogFile(lines.join('\n'), { isServiceCode, classification });
  const problems = (...lines: string[]) => {
    const parsed = parse(...lines);
    return 'problems' in parsed ? parsed.problems : [];
  };

  it('is read back from what was rendered of it', () => {
    const digits = (n: number) => fc.stringMatching(new RegExp(`^\\d{${n}}$`));
    const text = fc.stringMatching(/^[A-Za-zÀ-ú]([A-Za-zÀ-ú ]{0,20}[A-Za-zÀ-ú])?$/);
    const line = fc.record(
      {
        cnae: digits(7),
        serviceCode: digits(4).map((rest) => `01${rest}`),
        nbs: digits(9),
        description: text,
        isDefault: fc.constant(false),
        isBlocked: fc.boolean(),
        incidence: text,
        indOp: fc.constantFrom('100301', '050101', '020201'),
        classTrib: fc.constantFrom('000001', '200052'),
      },
      { requiredKeys: ['cnae', 'serviceCode', 'description', 'isDefault', 'isBlocked'] },
    ) as fc.Arbitrary<OperatorLine>;
    const distinct = fc.uniqueArray(line, {
      minLength: 1,
      maxLength: 20,
      selector: (one) => one.cnae + one.serviceCode,
    });
    fc.assert(
      fc.property(distinct, (lines) => {
        const parsed = parse(
          renderCatalogFile(
            lines.map((one) => ({ ...one, candidates: 'ind_op 1 2', missing: 'ind_op', toConfirm: 'class_trib 1' })),
          ),
        );
        if ('problems' in parsed) throw new Error(parsed.problems.join('; '));
        for (const [cnae, read] of parsed.lines) expect(read).toEqual(lines.filter((one) => one.cnae === cnae));
        expect([...parsed.lines.values()].flat()).toHaveLength(lines.length);
      }),
    );
  });

  it('takes its columns in any order, a byte order mark, CRLF and empty rows', () => {
    const parsed = parse(
      '\ufeffis_default\tdescription\tnbs\tservice_code\tcnae\r',
      'true\tA\t\t010101\t6201501\r',
      '',
    );
    expect(parsed).toEqual({
      municipalCodes: [],
      lines: new Map([
        ['6201501', [{ cnae: '6201501', serviceCode: '010101', description: 'A', isDefault: true, isBlocked: false }]],
      ]),
    });
  });

  it.each([
    [
      ['cnae\tservice_code\tdescription\tis_default\tcolour'],
      ['the column nbs is missing', 'colour is no known column'],
    ],
    [[`${HEADER}\tcnae`], ['the column cnae is there twice']],
  ])('refuses the header of %j', (lines, expected) => {
    expect(problems(...lines)).toEqual(expected.map((problem) => `line 1: ${problem}`));
  });

  it('refuses a file without lines, and a row with too many cells', () => {
    expect(problems(HEADER, '')).toEqual(['the file has no line below its header']);
    expect(problems(HEADER, '6201501\t010101\t\tA\ttrue\tfalse')).toEqual(['line 2: has 6 cells for 5 columns']);
  });

  it('may have the same service twice when one of the two is blocked, but not the very same line', () => {
    const header = `${HEADER}\tis_blocked`;
    const open = '6201501\t010101\t\tA\tfalse\tfalse';
    expect(problems(header, '6201501\t010101\t\tA\ttrue\ttrue', open)).toEqual([]);
    expect(problems(header, open, open)).toEqual(['line 3: service_code 010101 is there twice for CNAE 6201501']);
  });

  it.each(['=HYPERLINK("http://a.example")', '+1+1', '-1', '@SUM(1)', '＝1', '＋1', '－1', '＠A', '"A'])(
    'refuses %s, which a spreadsheet would not take as text',
    (text) => {
      const why = `begins with ${text.charAt(0)}, so a spreadsheet would not take it as text: begin with a letter or a digit`;
      expect(problems(HEADER, `6201501\t010101\t\t ${text}\ttrue`)).toEqual([`line 2: description ${why}`]);
      expect(problems(`${HEADER}\tincidence`, `6201501\t010101\t\tA\ttrue\t${text}`)).toEqual([
        `line 2: incidence ${why}`,
      ]);
      expect(problems(HEADER, `6201501\t010101\t\tA ${text}\ttrue`)).toEqual([]);
    },
  );

  it('takes a cell as a spreadsheet saves it, with doubled quotation marks in quotation marks', () => {
    const parsed = parse(HEADER, '"6201501"\t010101\t\t"Programas, também ""sob encomenda"" e prontos"\ttrue');
    expect('lines' in parsed && parsed.lines.get('6201501')).toMatchObject([
      { description: 'Programas, também "sob encomenda" e prontos' },
    ]);
    expect(problems(HEADER, '6201501\t010101\t\t"=1+1"\ttrue')).toHaveLength(1);
  });

  it('takes every description of the shipped catalogue', () => {
    const shipped = [...shippedCnaes()].flatMap((cnae) => shippedCatalogue.linesOf(cnae));
    const lines = shipped.map((line) => ({ ...line, candidates: '', missing: '', toConfirm: '' }));
    const parsed = parseCatalogFile(renderCatalogFile(lines), {
      isServiceCode: shippedCatalogue.isServiceCode,
      classification,
    });
    expect('problems' in parsed ? parsed.problems : []).toEqual([]);
  });

  it('has one default line of each CNAE', () => {
    const line = (cnae: string, nbs: string) => `${cnae}\t010101\t${nbs}\tA\ttrue`;
    expect(problems(HEADER, line('6201501', ''), line('6202300', ''))).toEqual([]);
    expect(problems(HEADER, line('6201501', ''), line('6201501', '115021000'))).toEqual([
      'line 3: a second default line of CNAE 6201501',
    ]);
  });

  it('may have very many lines of one CNAE', () => {
    const line = (index: number): string => `6201501\t010101\t${String(index).padStart(9, '0')}\tA\tfalse`;
    // Compared each with all before it, so many lines would take longer than a test may.
    const lines = Array.from({ length: 250_000 }, (_, index) => line(index));
    expect(problems(HEADER, lines.join('\n'), line(249_999))).toEqual([
      'line 250002: service_code 010101 is there twice for CNAE 6201501',
    ]);
  });
});

it('a catalogue file is refused as a whole where one event cannot hold the lines of a CNAE', () => {
  const line = (index: number) => `6201501\t010101\t${String(index).padStart(9, '0')}\t${'ã'.repeat(600)}\tfalse`;
  const parse = (lines: readonly string[]) =>
    parseCatalogFile([HEADER, '6202300\t010101\t\tA\ttrue', ...lines].join('\n'), { isServiceCode, classification });
  const lines = Array.from({ length: 200 }, (_, index) => line(index));
  expect(parse(lines)).toEqual({
    problems: [
      'CNAE 6201501 has lines of more than 240 KiB, which is the most that is recorded at once: shorten their texts',
    ],
  });
  expect(parse(lines.slice(0, 150))).not.toHaveProperty('problems');
});

describe('a catalogue file with what the authorizer would refuse', () => {
  const parse = (row: string) =>
    parseCatalogFile(`${HEADER}\tis_blocked\tmunicipal_code\n${row}`, {
      isServiceCode: (code) => /^(01|07|12|17|99)/.test(code),
      classification,
    });

  it.each([
    ['070202', 'the group obra (construction works)', 'E0370'],
    ['120701', 'the group atvEvento (place and date of an event)', 'E0390'],
    ['170501', "the customer's address (ISSQN is due there)", 'E0234'],
    ['990101', 'non-incidence of the ISSQN', 'E0532'],
  ])('does not release %s, and says why', (code, demand, ruleCode) => {
    const problem = `line 2: service_code ${code} demands ${demand}, which the API has no fields for (${ruleCode}): set is_blocked to true`;
    expect(parse(`4120400\t${code}\t\tA\ttrue`)).toEqual({ problems: [problem] });
    expect(parse(`4120400\t${code}\t\tA\ttrue\ttrue`)).toHaveProperty('lines');
  });

  it('may have the municipal codes of older versions, which are no part of its lines', () => {
    const read = parse('6201501\t010101\t\tA\ttrue\tfalse\t100');
    if ('problems' in read) throw new Error(read.problems.join());
    expect(read.municipalCodes).toEqual([{ cnae: '6201501', serviceCode: '010101', municipalCode: '100' }]);
    expect(read.lines.get('6201501')?.[0]).not.toHaveProperty('municipalCode');
    expect(parse('6201501\t010101\t\tA\ttrue\tfalse\t')).toMatchObject({ municipalCodes: [] });
    const problem = 'line 2: municipal_code must be 3 digits other than 000, or empty';
    for (const code of ['000', '1', 'abc'])
      expect(parse(`6201501\t010101\t\tA\ttrue\tfalse\t${code}`)).toEqual({ problems: [problem] });
  });
});

describe('a registry file', () => {
  const entry = { cnpj: '11222333000181', legal_name: ' A LTDA ' };
  const places = {
    codeOf: (city: string, state: string) => (city === 'São Paulo' && state === 'SP' ? '3550308' : undefined),
    nearestTo: (city: string) => (city === 'Sao Paolo' ? 'São Paulo/SP' : undefined),
  };
  const place = { city: 'São Paulo', state: 'SP', postal_code: '01001-000' };
  const address = { street: 'Rua A', number: '1', district: 'Centro', ...place };

  it('holds one entry or a list', () => {
    const entries = new Map([['11222333000181', { legalName: 'A LTDA' }]]);
    const warnings: string[] = [];
    expect(parseRegistryFile(entry, places)).toEqual({ entries, warnings });
    expect(parseRegistryFile([entry], places)).toEqual({ entries, warnings });
    expect(parseRegistryFile([], places)).toEqual({ entries: new Map(), warnings });
    expect(parseRegistryFile({ ...entry, address }, places)).toHaveProperty('entries');
  });

  it.each([
    [{ city: 'Sao Paolo' }, 'address.city is no municipality of the state; the nearest is São Paulo/SP'],
    [{ state: 'RJ' }, 'address.city is no municipality of the state'],
    [{ postal_code: '00000000' }, 'address.postal_code does not exist: the lowest one is 01000000'],
    [{ street: 'Улица' }, 'address.street cannot be written in Latin letters'],
  ])('refuses an address that acceptance would leave out: %j', (changes, problem) => {
    const list = [entry, { ...entry, cnpj: '11444777000161', address: { ...address, ...changes } }];
    const parsed = parseRegistryFile(list, places);
    expect('problems' in parsed ? parsed.problems : []).toEqual([expect.stringContaining(`entry 2: ${problem}`)]);
  });

  it('is warned of a CNPJ with wrong check digits', () => {
    expect(parseRegistryFile([entry, { ...entry, cnpj: '11222333000182' }], places)).toMatchObject({
      warnings: [expect.stringContaining('entry 2: cnpj has wrong check digits')],
    });
  });

  it.each([
    [[entry, entry], ['entry 2: cnpj is there twice']],
    [{ ...entry, address: { street: 'A' } }, ['number', 'district', 'city', 'state', 'postal_code']],
    [{ ...entry, colour: 'red' }, ['colour is not a known field']],
    ['text', ['it must be an object']],
    [null, ['it must be an object']],
    [{ ...entry, legal_name: 'A\u0001B' }, ['legal_name has control characters']],
    [{ ...entry, legal_name: 'A\ufffeB' }, ['legal_name has control characters']],
  ])('refuses %j', (json, expected) => {
    const parsed = parseRegistryFile(json, places);
    const problems = 'problems' in parsed ? parsed.problems.join('\n') : '';
    for (const problem of expected) expect(problems).toContain(problem);
  });
});

describe('a catalogue file with the choices of IBS and CBS', () => {
  const header = `${HEADER}\tind_op\tclass_trib\tclass_trib_regular\tcandidates\tmissing\tto_confirm`;
  const parse = (choice: string) =>
    parseCatalogFile(`${header}\n6201501\t010101\t115022000\tA\ttrue\t${choice}`, { isServiceCode, classification });
  const problemsOf = (choice: string) => {
    const parsed = parse(choice);
    return 'problems' in parsed ? parsed.problems : [];
  };

  it('takes them, and reads nothing of what was written to choose from', () => {
    expect(parse('050101\t550016\t000001\tind_op 050101 050102\tclass_trib')).toEqual({
      municipalCodes: [],
      lines: new Map([
        [
          '6201501',
          [
            {
              cnae: '6201501',
              serviceCode: '010101',
              nbs: '115022000',
              description: 'A',
              isDefault: true,
              isBlocked: false,
              indOp: '050101',
              classTrib: '550016',
              classTribRegular: '000001',
            },
          ],
        ],
      ]),
    });
  });

  it.each([
    ['999999\t000001', 'ind_op 999999 is not in annex C (E0901)'],
    ['12\t000001', 'ind_op 12 is not in annex C (E0901)'],
    ['100302\t000001', 'ind_op 100302 is for customers abroad: enter 100301, the service derives it'],
    ['100401\t000001', 'ind_op 100401 is for services that nobody pays for'],
    ['100301\t200003', 'class_trib 200003 is no classification of a NFS-e (E0958)'],
    ['100301\t811001', 'class_trib 811001 is of an adjustment, not of a service'],
    ['100301\t515001', 'class_trib 515001 asks for the group gDif (E0972), for which there are no fields'],
    ['100301\t550016', 'class_trib 550016 asks for class_trib_regular (E0965)'],
    ['100301\t000001\t000001', 'class_trib 000001 takes no class_trib_regular (E0964)'],
    ['100301\t550016\t550016', 'class_trib_regular 550016 is no taxation without suspension (E0969)'],
    ['100301\t\t000001', 'class_trib_regular is only for a class_trib that asks for it (E0964)'],
  ])('refuses %s by line and reason', (choice, problem) => {
    expect(problemsOf(choice)).toEqual([`line 2: ${problem}`]);
  });
});
