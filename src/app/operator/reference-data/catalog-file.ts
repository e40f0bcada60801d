import type { ImportedLines } from '../../../domain/catalog/catalog.js';
import type { OperatorLine } from '../../../domain/catalog/events.js';
import { withoutMask } from '../../../domain/common/masks.js';
import { present } from '../../../domain/common/present.js';
import { choiceFaults } from '../../../domain/company/ibs-cbs-operations.js';
import { unmetDemandOf } from '../../../domain/company/service-rules.js';
import { type FileTables, problemsIf, tooMuchForEvent } from '../file-text.js';

type CatalogColumn = { name: string; required: boolean; description: string; example: string };

type ColumnOfFile = {
  required?: true;
  description: string;
  example?: string;
  cell(line: ShownLine): string | undefined;
};

/** In the order of an exported file. The last two are written for the operator to choose from, and not read. */
const COLUMNS = {
  cnae: {
    required: true,
    description: 'CNAE of the activity, 7 digits, with or without mask; all lines of this CNAE are replaced',
    example: '6201501',
    cell: ({ cnae }) => cnae,
  },
  service_code: {
    required: true,
    description: 'national service code, 6 digits, with or without mask',
    example: '010101',
    cell: ({ serviceCode }) => serviceCode,
  },
  nbs: {
    required: true,
    description:
      'NBS, 9 digits, with or without mask; empty: invoices of this line are refused (nfse.cnae_missing_nbs)',
    example: '115021000',
    cell: ({ nbs }) => nbs,
  },
  description: {
    required: true,
    description: 'what the line is, up to 600 characters, shown by GET /v1/activities',
    example: 'Desenvolvimento de software',
    cell: ({ description }) => description,
  },
  is_default: {
    required: true,
    description: 'true: used when an invoice names no service_code; one line of each CNAE',
    example: 'true',
    cell: ({ isDefault }) => String(isDefault),
  },
  is_blocked: {
    description: 'true: the line is neither listed nor used; empty is false',
    example: 'false',
    cell: ({ isBlocked }) => String(isBlocked),
  },
  incidence: {
    description: 'where the ISSQN is due, in words, up to 600 characters',
    cell: ({ incidence }) => incidence,
  },
  ind_op: {
    description: 'operation indicator (cIndOp), 6 digits',
    example: '100301',
    cell: ({ indOp }) => indOp,
  },
  class_trib: {
    description: 'tax classification (cClassTrib), 6 digits',
    example: '000001',
    cell: ({ classTrib }) => classTrib,
  },
  class_trib_regular: {
    description: 'classification that would hold without the benefit, 6 digits',
    cell: ({ classTribRegular }) => classTribRegular,
  },
  candidates: {
    description: 'written by the export to choose from, not read',
    cell: ({ candidates }) => candidates,
  },
  missing: {
    description: 'written by the export: what IBS and CBS lack, not read',
    cell: ({ missing }) => missing,
  },
  to_confirm: {
    description:
      'written by the export: a reduction that only annex VIII gives, for the company file to confirm, not read',
    cell: ({ toConfirm }) => toConfirm,
  },
} satisfies Readonly<Record<string, ColumnOfFile>>;

const columnNames = Object.keys(COLUMNS);

/** The columns of a catalogue file, for its reference. */
export const catalogColumns: readonly CatalogColumn[] = Object.entries<ColumnOfFile>(COLUMNS).map(
  ([name, { required = false, description, example = '' }]) => ({ name, required, description, example }),
);

/** Files of older versions have this column. The code belongs to the company file, which takes it over. */
const FORMER = 'municipal_code';

/** What the former column says of a line. */
export type MunicipalCodeOfLine = { cnae: string; serviceCode: string; municipalCode: string };

type Column = keyof typeof COLUMNS | typeof FORMER;

const MAX_TEXT = 600;

/**
 * Reads a catalogue file: tab-separated, one header row, columns in any order. Every problem of a line is one line that begins
 * with the line's number in the file, from 1. `tables` has the national services and classifications; an NBS need not be in a table.
 */
export const parseCatalogFile = (
  text: string,
  tables: FileTables,
): { lines: ImportedLines; municipalCodes: readonly MunicipalCodeOfLine[] } | { problems: readonly string[] } => {
  const [header = '', ...rows] = text.replace(/^\ufeff/, '').split(/\r?\n/);
  const columns = header.split('\t').map((name) => name.trim());
  const wrongHeader = headerProblems(columns);
  if (wrongHeader.length > 0) return { problems: wrongHeader.map((problem) => `line 1: ${problem}`) };
  const problems: string[] = [];
  const byCnae = new Map<string, OperatorLine[]>();
  const taken: Taken = { defaults: new Set(), lines: new Set() };
  const municipalCodes: MunicipalCodeOfLine[] = [];
  for (const [index, row] of rows.entries()) {
    if (row.trim() === '') continue;
    const read = readRow(row, columns, tables);
    const found = 'problems' in read ? read.problems : clashes(read.line, taken);
    problems.push(...found.map((problem) => `line ${index + 2}: ${problem}`));
    if ('problems' in read) continue;
    const { cnae, serviceCode } = read.line;
    const ofCnae = byCnae.get(cnae);
    if (ofCnae === undefined) byCnae.set(cnae, [read.line]);
    else ofCnae.push(read.line);
    if (read.municipalCode !== '') municipalCodes.push({ cnae, serviceCode, municipalCode: read.municipalCode });
  }
  for (const [cnae, lines] of problems.length === 0 ? byCnae : []) {
    const tooMuch = tooMuchForEvent(lines);
    if (tooMuch !== undefined) problems.push(`CNAE ${cnae} has lines of ${tooMuch}: shorten their texts`);
  }
  if (problems.length === 0 && byCnae.size === 0) problems.push('the file has no line below its header');
  return problems.length > 0 ? { problems } : { lines: byCnae, municipalCodes };
};

/** A line with what an operator should know of it: codes to choose from, what its IBS and CBS lack, and a reduction to confirm. */
export type ShownLine = OperatorLine & { candidates: string; missing: string; toConfirm: string };

/** The file that `parseCatalogFile` reads, with every column. */
export const renderCatalogFile = (lines: readonly ShownLine[]): string => {
  const cellsOf = (line: ShownLine) => Object.values(COLUMNS).map(({ cell }) => cell(line) ?? '');
  return [columnNames, ...lines.map(cellsOf)].map((cells) => cells.join('\t')).join('\n');
};

const headerProblems = (columns: readonly string[]): string[] => {
  const known = [...columnNames, FORMER];
  const required = catalogColumns.filter((column) => column.required).map(({ name }) => name);
  return [
    ...required.filter((name) => !columns.includes(name)).map((name) => `the column ${name} is missing`),
    ...columns.filter((name) => !known.includes(name)).map((name) => `${name || 'an empty name'} is no known column`),
    ...columns
      .filter((name, index) => columns.indexOf(name) !== index)
      .map((name) => `the column ${name} is there twice`),
  ];
};

const readRow = (
  row: string,
  columns: readonly string[],
  { isServiceCode, classification }: FileTables,
): { line: OperatorLine; municipalCode: string } | { problems: readonly string[] } => {
  const cells = row.split('\t');
  if (cells.length > columns.length) return { problems: [`has ${cells.length} cells for ${columns.length} columns`] };
  const cell = (column: Column): string => unquoted((cells[columns.indexOf(column)] ?? '').trim());
  const cnae = withoutMask(cell('cnae'), 'cnae');
  const serviceCode = withoutMask(cell('service_code'), 'serviceCode');
  const nbs = withoutMask(cell('nbs'), 'nbs');
  const [description, incidence] = [cell('description'), cell('incidence')];
  const indOp = cell('ind_op') || undefined;
  const classTrib = cell('class_trib') || undefined;
  const classTribRegular = cell('class_trib_regular') || undefined;
  const municipalCode = cell(FORMER);
  const isDefault = readBoolean(cell('is_default'));
  const isBlocked = cell('is_blocked') === '' ? false : readBoolean(cell('is_blocked'));
  const isCode = /^\d{6}$/.test(serviceCode);
  const unmet = isBlocked === false ? unmetDemandOf(serviceCode) : undefined;
  const problems = problemsIf([
    [!/^\d{7}$/.test(cnae), 'cnae must be 7 digits'],
    [!isCode, 'service_code must be 6 digits'],
    [isCode && !isServiceCode(serviceCode), `service_code ${serviceCode} is not in the national list`],
    [!/^(\d{9})?$/.test(nbs), 'nbs must be 9 digits or empty'],
    [description === '', 'description must not be empty'],
    ...textChecks('description', description),
    [isDefault === undefined, 'is_default must be true or false'],
    [isBlocked === undefined, 'is_blocked must be true or false'],
    // An unblocked line of such a service would be listed, accepted and then refused by the authorizer.
    [
      unmet !== undefined,
      `service_code ${serviceCode} demands ${unmet?.demand}, which the API has no fields for (${unmet?.ruleCode}): set is_blocked to true`,
    ],
    [!/^((?!000)\d{3})?$/.test(municipalCode), 'municipal_code must be 3 digits other than 000, or empty'],
    ...textChecks('incidence', incidence),
    ...choiceFaults({ indOp, classTrib, classTribRegular }, classification).map((fault) => [true, fault] as const),
  ]);
  if (problems.length > 0 || isDefault === undefined || isBlocked === undefined) return { problems };
  return {
    line: present({
      cnae,
      serviceCode,
      description,
      isDefault,
      isBlocked,
      nbs: nbs || undefined,
      incidence: incidence || undefined,
      indOp,
      classTrib,
      classTribRegular,
    }),
    municipalCode,
  };
};

const textChecks = (column: string, text: string): readonly (readonly [boolean, string])[] => [
  [text.length > MAX_TEXT, `${column} is longer than ${MAX_TEXT} characters`],
  [/[\p{Cc}\p{Cs}]/u.test(text), `${column} has control characters`],
  [
    FORMULA.test(text),
    `${column} begins with ${text.charAt(0)}, so a spreadsheet would not take it as text: begin with a letter or a digit`,
  ],
];

/** A spreadsheet saves a cell with a comma or a quotation mark in quotation marks, and doubles those inside. */
const unquoted = (cell: string): string =>
  /^"(?:[^"]|"")*"$/.test(cell) ? cell.slice(1, -1).replaceAll('""', '"').trim() : cell;

/**
 * A spreadsheet that opens an exported file runs a text with the first four as a formula, some also with their full-width forms, and joins cells after a
 * quotation mark.
 */
const FORMULA = /^[=+\-@＝＋－＠"]/;

/** What the lines above have taken: the CNAEs that have a default, and each line by what makes two lines equal. */
type Taken = { defaults: Set<string>; lines: Set<string> };

/** With a second default or two equal lines, the line that an invoice takes would be ambiguous. Adds the line to `taken`. */
const clashes = (line: OperatorLine, taken: Taken): readonly string[] => {
  const { cnae, serviceCode, nbs = '', isBlocked, isDefault } = line;
  const same = [cnae, serviceCode, nbs, isBlocked].join(' ');
  const problems = problemsIf([
    [isDefault && taken.defaults.has(cnae), `a second default line of CNAE ${cnae}`],
    [taken.lines.has(same), `service_code ${serviceCode} is there twice for CNAE ${cnae}`],
  ]);
  if (isDefault) taken.defaults.add(cnae);
  taken.lines.add(same);
  return problems;
};

const readBoolean = (text: string): boolean | undefined =>
  text === 'true' ? true : text === 'false' ? false : undefined;
